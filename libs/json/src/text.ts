/** The contract counts lengths in characters: code points, not UTF-16 units. */

/** Whether the text has at most this many characters. */
export function isAtMost(text: string, characters: number): boolean {
  // A character takes one or two units. So the number of units decides, unless it is between the
  // two bounds below; only then the characters are counted.
  if (text.length <= characters) return true;
  if (text.length > 2 * characters) return false;
  let count = 0;
  for (const _character of text) count += 1;
  return count <= characters;
}

/** Whether the text contains NUL, which PostgreSQL cannot store. */
export function hasNul(text: string): boolean {
  return text.includes('\0');
}

/** `\u0000`, unless its backslash is escaped. */
const NUL_ESCAPE = /(?<!\\)(?:\\\\)*\\u0000/;

/** Whether text that is known to be JSON contains NUL. JSON has only one spelling of NUL. */
export function spellsNul(json: string): boolean {
  return json.includes('\\u0000') && NUL_ESCAPE.test(json);
}

/**
 * Whether the text can be stored unchanged: at most this many characters, without NUL or half a
 * surrogate pair.
 */
export function isStorable(text: string, characters: number): boolean {
  return isAtMost(text, characters) && !hasNul(text) && text.isWellFormed();
}

const ASCII_UPPER_CASE = /[A-Z]/g;

/**
 * The text with A to Z in lower case. `toLowerCase` also turns the Kelvin sign into a k, which
 * would make two identifiers one.
 */
export function foldAscii(text: string): string {
  return text.replace(ASCII_UPPER_CASE, (letter) => letter.toLowerCase());
}
