/**
 * Whether a `Content-Type` is JSON (RFC 9110, 8.3): the media type in any case, with any
 * parameters. JSON is UTF-8 (RFC 8259). So a `charset` may be `utf-8` or `utf8` in any case, quoted
 * or not, any number of times; any other charset is refused, wherever it stands among the
 * parameters. A text whose parameters do not parse is not a media type.
 */

const TYPE = /application\/json/iy;
/** `OWS ";" OWS`, and then a parameter or nothing. Whitespace around `=` is tolerated. */
const SEMICOLON = /[ \t]*;[ \t]*/y;
const NAME = /([!#$%&'*+.^`|~\w-]+)[ \t]*=[ \t]*/y;
const TOKEN = /[!#$%&'*+.^`|~\w-]+/y;
const QUOTED = /"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*)"/y;
const TRAILING = /[ \t]*/y;
const UTF_8 = /^utf-?8$/i;

export function isJsonMediaType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  let index = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = index;
    const found = pattern.exec(contentType);
    if (found !== null) index = pattern.lastIndex;
    return found;
  };

  if (take(TYPE) === null) return false;
  while (take(SEMICOLON) !== null) {
    const name = take(NAME)?.[1];
    if (name === undefined) continue;
    const value = take(TOKEN)?.[0] ?? unescaped(take(QUOTED)?.[1]);
    if (value === undefined) return false;
    if (name.toLowerCase() === 'charset' && !UTF_8.test(value)) return false;
  }
  take(TRAILING);
  return index === contentType.length;
}

function unescaped(quoted: string | undefined): string | undefined {
  return quoted?.replace(/\\(.)/g, '$1');
}
