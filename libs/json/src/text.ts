/** Lengths in the contract are characters: code points, not UTF-16 units. */

/** Whether the text has at most so many characters. */
export function isAtMost(text: string, characters: number): boolean {
  // A character takes one or two units: they have to be counted only when the length is in between.
  if (text.length <= characters) return true;
  if (text.length > 2 * characters) return false;
  let count = 0;
  for (const _character of text) count += 1;
  return count <= characters;
}

/** PostgreSQL cannot store NUL: no text that is stored may contain it. */
export function hasNul(text: string): boolean {
  return text.includes('\0');
}

/** `\u0000`, and not a backslash that is followed by `u0000`. */
const NUL_ESCAPE = /(?<!\\)(?:\\\\)*\\u0000/;

/** The same of a text that is known to be JSON, where NUL has one spelling. */
export function spellsNul(json: string): boolean {
  return json.includes('\\u0000') && NUL_ESCAPE.test(json);
}

/** Whether the text can be stored as it is: at most so many characters, none of them NUL or half a surrogate pair. */
export function isStorable(text: string, characters: number): boolean {
  return isAtMost(text, characters) && !hasNul(text) && text.isWellFormed();
}

const ASCII_UPPER_CASE = /[A-Z]/g;

/**
 * The text with A to Z in lower case and every other character as it is. `toLowerCase` turns the Kelvin sign
 * into a k as well, so that two different identifiers would become one.
 */
export function foldAscii(text: string): string {
  return text.replace(ASCII_UPPER_CASE, (letter) => letter.toLowerCase());
}
