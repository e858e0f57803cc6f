/**
 * The canonical JSON of RFC 8785: members in the order of their names' UTF-16 units, no space, text
 * and numbers as ECMAScript prints them.
 */
import { isWellFormed } from '../strict-json.ts';

/**
 * The canonical form of parsed JSON. Null if there is none, because the value contains half of a
 * surrogate pair or a number beyond a double's range.
 */
export function canonicalJson(value: unknown): string | null {
  try {
    return write(value);
  } catch {
    return null;
  }
}

function write(value: unknown): string {
  if (typeof value === 'string') return writeText(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a number has no JSON form');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${writeText(name)}:${write(member)}`).join(',')}}`;
}

function writeText(text: string): string {
  if (!isWellFormed(text)) throw new TypeError('a text has no UTF-8 form');
  return JSON.stringify(text);
}
