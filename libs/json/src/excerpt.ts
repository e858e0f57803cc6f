/** The beginning of a body, for a log. */

const EXCERPT_CHARACTERS = 1_000;
/** The bytes are enough for that many characters of at most four bytes each. */
const EXCERPT_BYTES = 4 * EXCERPT_CHARACTERS + 4;

/**
 * The body's first 1,000 characters, counted by code point like PostgreSQL. Bytes that are not
 * UTF-8 become U+FFFD; NUL, which a text column refuses, is left out.
 */
export function excerptOf(body: Buffer): string {
  const text = withoutNul(body).toString('utf8', 0, EXCERPT_BYTES);
  if (text.length <= EXCERPT_CHARACTERS) return text;
  let units = 0;
  for (let characters = 0; characters < EXCERPT_CHARACTERS && units < text.length; characters += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}

/** Removes NUL, which is the byte 0 in UTF-8, and part of no other character. */
function withoutNul(body: Buffer): Buffer {
  return body.includes(0) ? Buffer.from(body.filter((byte) => byte !== 0)) : body;
}
