/**
 * One text for all JSON of the same meaning: RFC 8785 (members in the order of their names' UTF-16
 * units, no space, text and numbers as ECMAScript prints them), extended to numbers that no double
 * holds (exact-number.ts).
 */
import { ExactNumber } from './exact-number.ts';

/**
 * The canonical JSON of a value from `parseJson` or `parseExactJson` with finite numbers and
 * bounded depth.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof ExactNumber) return value.canonical;
  let separator = '';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) {
      text += separator + canonicalJson(item);
      separator = ',';
    }
    return `[${text}]`;
  }
  for (const name of Object.keys(value).sort()) {
    text += `${separator}${JSON.stringify(name)}:${canonicalJson((value as Record<string, unknown>)[name])}`;
    separator = ',';
  }
  return `{${text}}`;
}
