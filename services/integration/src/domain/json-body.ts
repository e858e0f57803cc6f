/** A body, or a part of one: its value, and the exact text that was sent. */
import { type Refused, refused } from '@laurel/errors';
import { itemTexts, parseStrictJson, textAt } from '@laurel/json';
import { type JsonPointer, valueAt } from './json-pointer.ts';

export type Json = { readonly value: unknown; readonly text: string };

/**
 * A descriptor's pointer that does not lead to a value of the right kind: the descriptor's member,
 * and why.
 */
export type PointerFailure = { readonly pointer: string; readonly field: string; readonly message: string };

/**
 * Reads a whole body, whose records may contain NUL: read-record.ts refuses only the record that
 * does. Bytes are also checked to be UTF-8, because text that was decoded leniently may differ from
 * what was sent.
 */
export function parseBody(body: Buffer | string): Json | Refused {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const json = parseStrictJson(bytes, { allowsNul: true });
  return json.kind === 'invalid'
    ? refused('invalid_request', json.message)
    : { value: json.value, text: bytes.toString() };
}

/** The part to which the pointer leads; null if there is none. */
export function partAt(json: Json, pointer: JsonPointer): Json | null {
  const value = valueAt(json.value, pointer);
  const text = value === undefined ? undefined : textAt(json.text, pointer.path);
  return text === undefined ? null : { value, text };
}

/** The items of an array, in order. */
export function jsonItemsOf({ value, text }: { readonly value: readonly unknown[]; readonly text: string }): Json[] {
  const texts = itemTexts(text);
  return value.map((item, index) => ({ value: item, text: texts[index] ?? '' }));
}
