/**
 * The text of a value inside of JSON text, as it was sent. The text is known to be JSON in which no object names a member twice
 * (`parseStrictJson`), so a path leads to one value at most. One call costs one pass over the text in front of the value and the value
 * itself, however long the path is.
 */
import { endOfString, nameOf } from './string-text.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** Array indexes as RFC 6901 spells them. */
const INDEX = /^(?:0|[1-9]\d*)$/;

/** The value that the members and indexes of `path` lead to; undefined where they lead to none. */
export function textAt(text: string, path: readonly string[]): string | undefined {
  let start = skipSpace(text, 0);
  for (const token of path) {
    const child = childStart(text, start, token);
    if (child === undefined) return undefined;
    start = child;
  }
  return text.slice(start, endOfValue(text, start));
}

/** The text of each item of an array, in order; none for any other value. */
export function itemTexts(text: string): string[] {
  const items: string[] = [];
  const open = skipSpace(text, 0);
  if (text.charCodeAt(open) !== OPEN_BRACKET) return items;
  let index = skipSpace(text, open + 1);
  while (text.charCodeAt(index) !== CLOSE_BRACKET) {
    const end = endOfValue(text, index);
    items.push(text.slice(index, end));
    index = skipComma(text, end);
  }
  return items;
}

function childStart(text: string, start: number, token: string): number | undefined {
  const open = text.charCodeAt(start);
  if (open === OPEN_BRACE) return memberStart(text, start, token);
  if (open === OPEN_BRACKET && INDEX.test(token)) return itemStart(text, start, Number(token));
  return undefined;
}

function memberStart(text: string, open: number, name: string): number | undefined {
  let index = skipSpace(text, open + 1);
  while (text.charCodeAt(index) !== CLOSE_BRACE) {
    const nameEnd = endOfString(text, index + 1);
    const valueStart = skipSpace(text, skipSpace(text, nameEnd + 1) + 1);
    if (nameOf(text.slice(index + 1, nameEnd)) === name) return valueStart;
    index = skipComma(text, endOfValue(text, valueStart));
  }
  return undefined;
}

function itemStart(text: string, open: number, position: number): number | undefined {
  let index = skipSpace(text, open + 1);
  for (let passed = 0; text.charCodeAt(index) !== CLOSE_BRACKET; passed += 1) {
    if (passed === position) return index;
    index = skipComma(text, endOfValue(text, index));
  }
  return undefined;
}

/** Where the next item or member begins, or the bracket that closes them. */
function skipComma(text: string, end: number): number {
  const index = skipSpace(text, end);
  return text.charCodeAt(index) === COMMA ? skipSpace(text, index + 1) : index;
}

/** JSON has four kinds of white space, and no other character of JSON comes before them outside of strings. */
function skipSpace(text: string, from: number): number {
  let index = from;
  while (text.charCodeAt(index) <= SPACE) index += 1;
  return index;
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start + 1) + 1;
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfWord(text, start);
  let depth = 0;
  for (let index = start; ; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index + 1);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        if (depth === 0) return index + 1;
    }
  }
}

/** The index behind a number, true, false or null. */
function endOfWord(text: string, start: number): number {
  let end = start;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (code <= SPACE || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE) break;
    end += 1;
  }
  return end;
}
