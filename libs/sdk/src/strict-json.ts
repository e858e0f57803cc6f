/**
 * JSON that every reader reads alike, by the rules of Laurel's gateway (libs/json;
 * strict-json.test.ts compares the two). Signed text must have only one reading:
 * - UTF-8, without a byte order mark;
 * - no object repeats a member name, however it is spelled;
 * - all text is well-formed Unicode without NUL, and every number finite as a double;
 * - nesting ends at 64 levels.
 *
 * The native parser does not read names: in Node 24 it can misread one that is spelled with an
 * escape (nodejs/node#63785) as a name of an earlier object.
 */
import type { Bytes } from './bytes.ts';

const MAX_DEPTH = 64;

/** An array or object whose end has not been read; an array has no names. */
interface OpenContainer {
  readonly names: Set<string> | null;
  readonly values: unknown[];
}

interface Rules {
  /** Refuses a number that no double prints back: a reader would show another number. */
  readonly isExact: boolean;
  /**
   * Receipts that were signed before NUL was refused may have NUL in their evidence; they stay
   * valid.
   */
  readonly allowsNul: boolean;
}

/**
 * A string, a word (a number, true, false or null), or a character that builds arrays and objects.
 */
const TOKEN = /"(?:[^"\\]+|\\.)*"|[\w.+-]+|[[\]{}]/g;

/** Throws a SyntaxError whose message is a predicate of the text: "is not JSON". */
export function parseStrictJson(source: Bytes | string): unknown {
  return parse(source, { isExact: false, allowsNul: false });
}

/** Parses a receipt's JSON: every number is exactly the spelled one, and text may have NUL. */
export function parseExactJson(source: Bytes | string): unknown {
  return parse(source, { isExact: true, allowsNul: true });
}

/** Reads JSON from text or bytes exactly; returns anything else, already parsed, unchanged. */
export function parseIfJson(given: unknown): unknown {
  return typeof given === 'string' || ArrayBuffer.isView(given) ? parseExactJson(given as Bytes | string) : given;
}

function parse(source: Bytes | string, rules: Rules): unknown {
  const text = typeof source === 'string' ? source : decode(source);
  try {
    JSON.parse(text);
  } catch {
    throw new SyntaxError('is not JSON');
  }
  return read(text, rules);
}

function decode(bytes: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SyntaxError('is not UTF-8');
  }
}

/**
 * Reads text that is known to be JSON. JSON.parse reads each single string: a string contains no
 * member names that it could misread.
 */
function read(text: string, rules: Rules): unknown {
  const outermost: unknown[] = [];
  const stack: OpenContainer[] = [];
  let open: OpenContainer = { names: null, values: outermost };
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      stack.push(open);
      if (stack.length > MAX_DEPTH) throw new SyntaxError(`nests deeper than ${MAX_DEPTH} levels`);
      open = { names: token === '{' ? new Set() : null, values: [] };
    } else if (token === '}' || token === ']') {
      const value = close(open);
      open = stack.pop() as OpenContainer;
      open.values.push(value);
    } else if (open.names?.size === open.values.length) {
      // Every earlier name of the object has its value, so this string is the next name.
      const name = readString(token, rules);
      if (open.names.has(name)) throw new SyntaxError(`names the member ${token} twice`);
      open.names.add(name);
    } else {
      open.values.push(token.startsWith('"') ? readString(token, rules) : readWord(token, rules));
    }
  }
  return outermost[0];
}

/** `fromEntries` defines members; an assignment to `__proto__` would set the prototype. */
function close({ names, values }: OpenContainer): unknown {
  return names === null ? values : Object.fromEntries([...names].map((name, index) => [name, values[index]]));
}

/** Either half of a surrogate pair. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether the text has a form in UTF-8. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

function readString(token: string, { allowsNul }: Rules): string {
  const text = JSON.parse(token) as string;
  if (!isWellFormed(text)) throw new SyntaxError('has text that is not valid Unicode');
  if (!allowsNul && text.includes('\0')) throw new SyntaxError('has text with NUL');
  return text;
}

function readWord(word: string, { isExact }: Rules): unknown {
  const value: unknown = JSON.parse(word);
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) throw new SyntaxError('has a number beyond the range of a double');
  if (isExact && decimalOf(word) !== decimalOf(String(value))) {
    throw new SyntaxError(`has a number with more digits than a reader's double keeps: ${word.slice(0, 64)}`);
  }
  return value;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** The exact value of a number: `0`, or sign, digits without zeros at either end, `e`, exponent. */
function decimalOf(spelling: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(spelling) ?? [];
  const digits = whole + fraction;
  // The scan is by hand: an expression like /0+$/ scans every zero from every zero before it.
  let start = 0;
  while (digits[start] === '0') start += 1;
  if (start === digits.length) return '0';
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const power = BigInt(exponent.replace('+', '')) + BigInt(digits.length - end - fraction.length);
  return `${sign}${digits.slice(start, end)}e${power}`;
}
