/**
 * JSON Pointers (RFC 6901). `""` is the whole document. Every `/` begins the name of a member or
 * the index of an item, in which `~1` stands for `/` and `~0` for `~`. The index `-` means the item
 * after an array's last, which never exists, so it is refused.
 */
import { isAtMost, isJsonObject } from '@laurel/json';

export type JsonPointer = { readonly text: string; readonly path: readonly string[] };

/** The limit for a pointer in a descriptor that is saved now. */
export const MAX_POINTER_CHARACTERS = 255;

/** The whole document. */
export const WHOLE: JsonPointer = { text: '', path: [] };

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
/** An index has no sign and no leading zero. */
const INDEX = /^(?:0|[1-9]\d*)$/;

/** Null if the text is not a pointer, or uses the index `-`. */
export function parsePointer(text: string): JsonPointer | null {
  if (!POINTER.test(text)) return null;
  const path = text.split('/').slice(1).map(unescaped);
  return path.includes('-') ? null : { text, path };
}

/** A pointer as messages show it: unshortened unless it exceeds the limit for new descriptors. */
export function shortenedPointer(text: string): string {
  return isAtMost(text, MAX_POINTER_CHARACTERS) ? text : `${text.slice(0, MAX_POINTER_CHARACTERS).toWellFormed()}…`;
}

/** The value to which the pointer leads; undefined, which JSON does not have, if there is none. */
export function valueAt(document: unknown, { path }: JsonPointer): unknown {
  let value = document;
  for (const token of path) {
    if (Array.isArray(value)) value = INDEX.test(token) ? value[Number(token)] : undefined;
    else if (isJsonObject(value) && Object.hasOwn(value, token)) value = (value as Record<string, unknown>)[token];
    else return undefined;
  }
  return value;
}

/** `~1` is replaced first, because `~01` stands for `~1`. */
function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
