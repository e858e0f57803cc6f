/**
 * What the request log keeps of a body (at most 16 KiB), of a path and of a header, without e-mails
 * and secrets (SECURITY.md, "The request log").
 *
 * - The value of a member whose name sounds like a secret or an e-mail becomes "[redacted]",
 *   whatever its type.
 * - A text that contains an e-mail, an API key or a member of that kind becomes "[redacted]".
 * - All else stays unchanged, metadata and evidence included: numbers keep their digits.
 *
 * A body that is not JSON has no members. If a name of that kind is anywhere in such a body,
 * nothing of the body is kept.
 */

import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from './idempotency-key.ts';

export const MAX_KEPT_BYTES = 16 * 1024;
/**
 * How far redaction reads beyond the kept part. An e-mail or a key is shorter, so one that begins
 * in the kept part is read to its end.
 */
const LOOKAHEAD = 512;
export const MAX_PATH_CHARACTERS = 2_048;
/** An idempotency key has no more; a longer `User-Agent` is cut. */
export const MAX_SHORT_CHARACTERS = MAX_IDEMPOTENCY_KEY_CHARACTERS;
const REDACTED = '[redacted]';

const SECRET_NAME =
  /secret|passw|pwd|api[-_ ]?key|private[-_ ]?key|token|authori[sz]ation|credential|cookie|e[-_]?mail/i;
/**
 * What a text must contain to need redaction. Most texts contain none of it, and are kept after
 * this one test.
 */
const SUSPECT = new RegExp(String.raw`@|%40|\\u|sk_(?:test|live)_|${SECRET_NAME.source}`, 'i');
const EMAIL = /\S(?:@|%40|\\u0040)\S/i;
const API_KEY = /sk_(?:test|live)_[0-9A-Za-z]{8}/;
/**
 * Every repetition is bounded: for a hostile text, an unbounded one would take time in proportion
 * to the square of its length.
 */
const SECRET_MEMBER = new RegExp(String.raw`(?:${SECRET_NAME.source})[\w-]{0,64}["'\\\s]{0,16}[:=]`, 'i');

/** A string of valid JSON; at the end of a cut text it may be open. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gs;
const COLON = /\s*:\s*/y;
const SCALAR = /[^\s,\]}]*/y;

export interface KeptText {
  readonly text: string;
  /** Whether the body was longer than what is kept. */
  readonly isTruncated: boolean;
}

/**
 * The kept part of a body. A caller that knows whether the body is JSON, as for the gateway's own
 * responses, passes `isJson` and saves the test.
 */
export function redactBody(body: string, isJson = isValidJson(body)): KeptText {
  const window = body.slice(0, MAX_KEPT_BYTES + LOOKAHEAD);
  const redacted = isJson ? redactJson(window, MAX_KEPT_BYTES) : redactText(window).slice(0, MAX_KEPT_BYTES);
  const text = firstBytes(redacted, MAX_KEPT_BYTES);
  return { text, isTruncated: body.length > MAX_KEPT_BYTES || text.length < redacted.length };
}

/** The kept part of a text that should be short, such as a header. */
export function redactShortText(text: string): string {
  const window = text.slice(0, MAX_SHORT_CHARACTERS + LOOKAHEAD);
  const redacted = isSecretText(window) || SECRET_NAME.test(window) ? REDACTED : window;
  return withoutNul(redacted.slice(0, MAX_SHORT_CHARACTERS));
}

/** The kept part of a path and its query, without values of parameters that sound secret. */
export function redactPath(path: string): string {
  if (!SUSPECT.test(path) && !path.includes('%')) return path.slice(0, MAX_PATH_CHARACTERS);
  return path
    .slice(0, MAX_PATH_CHARACTERS + LOOKAHEAD)
    .replace(/[^/?&]+/g, (part) => {
      const decoded = decodeLeniently(part);
      if (isSecretText(decoded)) return REDACTED;
      const equals = part.indexOf('=');
      return equals !== -1 && SECRET_NAME.test(decoded) ? `${part.slice(0, equals)}=${REDACTED}` : part;
    })
    .slice(0, MAX_PATH_CHARACTERS);
}

/** Redacts the strings and members that begin before `end`, and cuts the text there. */
function redactJson(text: string, end: number): string {
  if (!SUSPECT.test(text)) return text.slice(0, end);
  let kept = '';
  let keptTo = 0;
  for (let from = 0; from < end; ) {
    const string = matchAt(STRING, text, from);
    if (string === null || string.index >= end) break;
    const { index } = string;
    from = index + string[0].length;
    const value = decodeString(string[0]);
    if (isSecretText(value)) {
      kept += `${text.slice(keptTo, index)}"${REDACTED}"`;
      keptTo = from;
    }
    const colon = SECRET_NAME.test(value) ? matchAt(COLON, text, from) : null;
    if (colon === null) continue;
    const valueAt = from + colon[0].length;
    from = endOfValue(text, valueAt);
    if (text.startsWith('null', valueAt)) continue;
    kept += `${text.slice(keptTo, valueAt)}"${REDACTED}"`;
    keptTo = from;
  }
  return kept + text.slice(keptTo, Math.max(keptTo, end));
}

/**
 * The end of the JSON value that begins at `start`; the end of the text if the text is cut within
 * the value.
 */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') at += matchAt(STRING, text, at)?.[0].length ?? 1;
    else if (character === '{' || character === '[') {
      depth += 1;
      at += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      at += 1;
    } else if (depth === 0) at += matchAt(SCALAR, text, at)?.[0].length || 1;
    else at += 1;
    if (depth === 0) return at;
  }
  return at;
}

function redactText(text: string): string {
  const plain = withoutNul(text);
  if (!SUSPECT.test(plain)) return plain;
  if (SECRET_NAME.test(decodeEscapes(plain))) return REDACTED;
  return plain.replace(/\S+/g, (word) => (isSecretText(decodeEscapes(word)) ? REDACTED : word));
}

function isSecretText(text: string): boolean {
  return SUSPECT.test(text) && (EMAIL.test(text) || API_KEY.test(text) || SECRET_MEMBER.test(text));
}

function decodeString(literal: string): string {
  const isOpen = literal.length < 2 || !literal.endsWith('"');
  return literal.includes('\\') ? decodeEscapes(literal.slice(1)) : literal.slice(1, isOpen ? undefined : -1);
}

/** Decodes also a text that is cut within an escape. */
function decodeEscapes(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function decodeLeniently(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function matchAt(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

/** NUL ends a text in a shell, into which the command that sends a request again is copied. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

/** The longest beginning of the text that has at most this many bytes. */
function firstBytes(text: string, max: number): string {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= max || Buffer.byteLength(text) <= max) return text;
  const bytes = Buffer.from(text);
  let end = max;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
