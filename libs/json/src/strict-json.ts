/**
 * JSON that every reader reads alike: RFC 8259 text in UTF-8, restricted like I-JSON (RFC 7493).
 * - No object repeats a member name (readers disagree which one counts).
 * - Every number is finite as a double, and all text is well-formed Unicode, inside `metadata` and
 *   `evidence` too: receipts are signed over canonical JSON, which needs both. A number may have
 *   more digits than a double keeps: the stored text keeps them, and `exact` distinguishes such
 *   numbers.
 * - No text contains NUL: many readers and stores cut a text there.
 * - Nesting ends at 64 levels; deeper nesting attacks recursive readers.
 */
import { isUtf8 } from 'node:buffer';
import { readNumber } from './exact-number.ts';
import { parseExactJson, parseJson } from './parse-json.ts';
import { endOfString, nameOf } from './string-text.ts';
import { spellsNul } from './text.ts';

export const MAX_DEPTH = 64;

/** An error message repeats at most this much of a member's name. */
const MAX_NAMED_CHARACTERS = 64;

export type StrictJson =
  | {
      readonly kind: 'parsed';
      readonly value: unknown;
      /**
       * The value with an ExactNumber for every number that no double prints back. Most bodies have
       * no such number; this is then `value` itself.
       */
      readonly exact: unknown;
      /** Members of the outermost object, by name, as the exact text that was sent. */
      readonly verbatim: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'invalid'; readonly message: string };

export interface StrictJsonOptions {
  /** Members of the outermost object whose text is returned as sent. */
  readonly verbatimNames?: readonly string[];
  /**
   * Whether NUL is allowed: in a body of many records, whose reader refuses only the records that
   * contain NUL; and in text that was stored before Laurel refused NUL.
   */
  readonly allowsNul?: boolean;
}

/** Reads a body as JSON, strictly. */
export function parseStrictJson(
  bytes: Buffer,
  { verbatimNames = [], allowsNul = false }: StrictJsonOptions = {},
): StrictJson {
  if (!isUtf8(bytes)) return invalid('The body is not valid UTF-8.');
  const text = bytes.toString();
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return invalid('The body is not valid JSON.');
  }

  const tally = { members: 0 };
  const issue = inspect(value, 1, tally);
  if (issue !== null) return invalid(issue);
  if (!allowsNul && spellsNul(text)) return invalid('The body holds text with NUL.');

  // If two members share a name, the parser keeps one, so the text has more members than the value.
  // That requires a parser that never confuses two names: parseJson is one, the native parser is
  // not.
  const scan = scanMembers(text, verbatimNames);
  if (scan.members !== tally.members) return invalid(`The member \`${shortened(repeatedName(text))}\` stands twice.`);
  return { kind: 'parsed', value, exact: scan.areNumbersExact ? value : parseExactJson(text), verbatim: scan.verbatim };
}

function invalid(message: string): StrictJson {
  return { kind: 'invalid', message };
}

/** Walks a parsed value, counts its objects' members, and returns its first validation issue. */
function inspect(value: unknown, depth: number, tally: { members: number }): string | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : 'The body holds text that is not valid Unicode.';
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : 'The body holds a number beyond the range of a double.';
  if (typeof value !== 'object' || value === null) return null;
  if (depth > MAX_DEPTH) return `The body nests deeper than ${MAX_DEPTH} levels.`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const issue = inspect(item, depth + 1, tally);
      if (issue !== null) return issue;
    }
    return null;
  }
  for (const name of Object.keys(value)) {
    tally.members += 1;
    const issue =
      inspect(name, depth + 1, tally) ?? inspect((value as Record<string, unknown>)[name], depth + 1, tally);
    if (issue !== null) return issue;
  }
  return null;
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const COMMA = 0x2c;
const LETTER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * One pass over text that is known to be JSON. It counts the members (one colon each), cuts out the
 * requested ones, and checks every number.
 */
function scanMembers(
  text: string,
  verbatimNames: readonly string[],
): { members: number; verbatim: Record<string, string>; areNumbersExact: boolean } {
  const verbatim: Record<string, string> = Object.create(null);
  const isOutermostObject = text.trimStart().startsWith('{');
  let members = 0;
  let areNumbersExact = true;
  let depth = 0;
  let stringStart = 0;
  let stringEnd = 0;
  let wantedName: string | undefined;
  let valueStart = 0;

  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    switch (code) {
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
      default:
        if (code === MINUS || (code >= ZERO && code <= NINE)) {
          const end = endOfNumber(text, index);
          areNumbersExact &&= typeof readNumber(text.slice(index, end)) === 'number';
          index = end - 1;
        }
    }
  }
  return { members, verbatim, areNumbersExact };
}

/**
 * The first name that an object of the text repeats. The text is known to be JSON with such a name.
 */
function repeatedName(text: string): string {
  const open: Set<string>[] = [];
  let stringStart = 0;
  let stringEnd = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        stringStart = index + 1;
        index = endOfString(text, stringStart);
        stringEnd = index;
        break;
      case COLON: {
        const name = nameOf(text.slice(stringStart, stringEnd));
        const names = open.at(-1);
        if (names?.has(name)) return name;
        names?.add(name);
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        open.push(new Set());
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        break;
    }
  }
  throw new Error('the text repeats no member name');
}

/** A name for an error message: whole if it is short, and always valid Unicode. */
function shortened(name: string): string {
  const text = name.length > MAX_NAMED_CHARACTERS ? `${name.slice(0, MAX_NAMED_CHARACTERS)}…` : name;
  return text.toWellFormed();
}

/** The index after the number that starts at `index`. */
function endOfNumber(text: string, index: number): number {
  let end = index + 1;
  while (isInNumber(text.charCodeAt(end))) end += 1;
  return end;
}

function isInNumber(code: number): boolean {
  return (
    (code >= ZERO && code <= NINE) || code === MINUS || code === POINT || code === PLUS || (code | 0x20) === LETTER_E
  );
}
