/**
 * JSON that means one thing to every reader: RFC 8259 text in UTF-8, restricted as I-JSON (RFC 7493) is.
 * - no object names a member twice (readers disagree which one counts);
 * - every number is finite as a double, all text is well-formed Unicode (receipts are signed over canonical JSON, which needs both);
 * - nesting ends at 64 levels (deeper is an attack on whoever walks it).
 */
import { isUtf8 } from 'node:buffer';
import { parseJson } from '@laurel/json';

export const MAX_DEPTH = 64;

export type StrictJson =
  | {
      readonly kind: 'parsed';
      readonly value: unknown;
      /** Members of the outermost object, by name, as the very text that was sent. */
      readonly verbatim: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'faulty'; readonly message: string };

/** Reads a body. `verbatimNames` are the members of the outermost object whose text is wanted as sent. */
export function parseStrictJson(bytes: Buffer, verbatimNames: readonly string[] = []): StrictJson {
  if (!isUtf8(bytes)) return faulty('The body is not valid UTF-8.');
  const text = bytes.toString();
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return faulty('The body is not valid JSON.');
  }

  const tally = { members: 0 };
  const fault = inspect(value, 1, tally);
  if (fault !== null) return faulty(fault);

  // Of two members with one name the parser keeps one, so the text then has more members than the value, and else just as many.
  // That needs a parser which never takes two names for one: parseJson is, the native one is not.
  const scan = scanMembers(text, verbatimNames);
  if (scan.members !== tally.members) return faulty('The body names a member twice.');
  return { kind: 'parsed', value, verbatim: scan.verbatim };
}

function faulty(message: string): StrictJson {
  return { kind: 'faulty', message };
}

/** Walks a parsed value, counts the members of its objects, and answers its first fault. */
function inspect(value: unknown, depth: number, tally: { members: number }): string | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : 'The body holds text that is not valid Unicode.';
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : 'The body holds a number beyond the range of a double.';
  if (typeof value !== 'object' || value === null) return null;
  if (depth > MAX_DEPTH) return `The body nests deeper than ${MAX_DEPTH} levels.`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = inspect(item, depth + 1, tally);
      if (fault !== null) return fault;
    }
    return null;
  }
  for (const name of Object.keys(value)) {
    tally.members += 1;
    const fault =
      inspect(name, depth + 1, tally) ?? inspect((value as Record<string, unknown>)[name], depth + 1, tally);
    if (fault !== null) return fault;
  }
  return null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** One pass over text that is known to be JSON: counts the members (one colon each) and cuts out the wanted ones. */
function scanMembers(
  text: string,
  verbatimNames: readonly string[],
): { members: number; verbatim: Record<string, string> } {
  const verbatim: Record<string, string> = Object.create(null);
  const isOutermostObject = text.trimStart().startsWith('{');
  let members = 0;
  let depth = 0;
  let stringStart = 0;
  let stringEnd = 0;
  let wantedName: string | undefined;
  let valueStart = 0;

  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        stringStart = index + 1;
        index = endOfString(text, stringStart);
        stringEnd = index;
        break;
      case COLON:
        members += 1;
        if (depth === 1 && isOutermostObject && verbatimNames.length > 0) {
          const name = nameOf(text.slice(stringStart, stringEnd));
          wantedName = verbatimNames.includes(name) ? name : undefined;
          valueStart = index + 1;
        }
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        if (depth === 0 && wantedName !== undefined) verbatim[wantedName] = text.slice(valueStart, index).trim();
        break;
      case COMMA:
        if (depth === 1 && wantedName !== undefined) {
          verbatim[wantedName] = text.slice(valueStart, index).trim();
          wantedName = undefined;
        }
        break;
    }
  }
  return { members, verbatim };
}

/** The index of the quote that ends the string which starts at `index`. */
function endOfString(text: string, index: number): number {
  let end = index;
  for (;;) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) return end;
    end += code === BACKSLASH ? 2 : 1;
  }
}

function nameOf(sent: string): string {
  return sent.includes('\\') ? (JSON.parse(`"${sent}"`) as string) : sent;
}
