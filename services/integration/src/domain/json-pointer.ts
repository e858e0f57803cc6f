/**
 * JSON Pointers (RFC 6901): `""` is the whole document; every `/` begins the name of a member or the index of an item, in which `~1` spells
 * `/` and `~0` spells `~`. The item after the last of an array, `-`, never has a value, so it is refused.
 */
import { isAtMost, isJsonObject } from '@laurel/json';

export type JsonPointer = { readonly text: string; readonly path: readonly string[] };

/** Of a pointer in a descriptor that is saved now. */
export const MAX_POINTER_CHARACTERS = 255;

/** The whole document. */
export const WHOLE: JsonPointer = { text: '', path: [] };

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
/** Without a sign and without a leading zero. */
const INDEX = /^(?:0|[1-9]\d*)$/;

/** Null for text that is no pointer, or that names an item by `-`. */
export function parsePointer(text: string): JsonPointer | null {
  if (!POINTER.test(text)) return null;
  const path = text.split('/').slice(1).map(unescaped);
  return path.includes('-') ? null : { text, path };
}

/** A pointer as a message repeats it: whole where a descriptor that is saved now may have it. */
export function shortened(text: string): string {
  return isAtMost(text, MAX_POINTER_CHARACTERS) ? text : `${text.slice(0, MAX_POINTER_CHARACTERS).toWellFormed()}…`;
}

/** The value that a pointer names; undefined, which JSON does not have, where it names none. */
export function valueAt(document: unknown, { path }: JsonPointer): unknown {
  let value = document;
  for (const token of path) {
    if (Array.isArray(value)) value = INDEX.test(token) ? value[Number(token)] : undefined;
    else if (isJsonObject(value) && Object.hasOwn(value, token)) value = (value as Record<string, unknown>)[token];
    else return undefined;
  }
  return value;
}

/** `~1` first: `~01` spells `~1`. */
function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
