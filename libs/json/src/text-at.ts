/**
 * Finds the text of a value inside JSON text, exactly as sent. The text is known to be JSON without
 * repeated names (`parseStrictJson`), so a path leads to at most one value. One call costs one pass
 * over the text up to the end of the value, however long the path is. `spansAt` finds many paths in
 * one pass.
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

/** The text of the value at `path`, its members and indexes; undefined if there is none. */
export function textAt(text: string, path: readonly string[]): string | undefined {
  let start = skipSpace(text, 0);
  for (const token of path) {
    const child = childStart(text, start, token);
    if (child === undefined) return undefined;
    start = child;
  }
  return text.slice(start, endOfValue(text, start));
}

/**
 * Many paths as a tree, in which paths with the same beginning share nodes. A node stands for a
 * value; `children` has the nodes of its members or items, by name or index.
 */
export interface PathTree {
  /** The paths that end at this node, by their positions in the list of paths. */
  readonly ends: number[];
  readonly children: Map<string, PathTree>;
}

/**
 * Builds the tree of a list of paths. A null path keeps its position in the list, and leads to no
 * value.
 */
export function pathTreeOf(paths: readonly (readonly string[] | null)[]): PathTree {
  const root: PathTree = { ends: [], children: new Map() };
  for (const [place, path] of paths.entries()) {
    if (path === null) continue;
    let tree = root;
    for (const token of path) {
      const known = tree.children.get(token);
      const child = known ?? { ends: [], children: new Map() };
      if (known === undefined) tree.children.set(token, child);
      tree = child;
    }
    tree.ends.push(place);
  }
  return root;
}

/** Where a value begins and ends in the text. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns where the values of many paths are in the text, by each path's position in the list. A
 * path that leads to no value has no entry. All paths together cost one pass over the text.
 */
export function spansAt(text: string, paths: PathTree): ReadonlyMap<number, TextSpan> {
  const spans = new Map<number, TextSpan>();
  findSpans(text, skipSpace(text, 0), paths, spans);
  return spans;
}

/** Returns the end of the value. The strict parser bounds nesting, and so the recursion. */
function findSpans(text: string, start: number, { ends, children }: PathTree, spans: Map<number, TextSpan>): number {
  const open = children.size === 0 ? undefined : text.charCodeAt(start);
  const end =
    open === OPEN_BRACE || open === OPEN_BRACKET
      ? findSpansWithin(text, start, { isObject: open === OPEN_BRACE, children }, spans)
      : endOfValue(text, start);
  for (const place of ends) spans.set(place, { start, end });
  return end;
}

function findSpansWithin(
  text: string,
  open: number,
  { isObject, children }: { readonly isObject: boolean; readonly children: PathTree['children'] },
  spans: Map<number, TextSpan>,
): number {
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  let index = skipSpace(text, open + 1);
  for (let position = 0; text.charCodeAt(index) !== close; position += 1) {
    // RFC 6901 spells an index as ECMAScript does, so `children` has an item under no other
    // spelling.
    let token = String(position);
    if (isObject) {
      const nameEnd = endOfString(text, index + 1);
      token = nameOf(text.slice(index + 1, nameEnd));
      index = skipSpace(text, skipSpace(text, nameEnd + 1) + 1);
    }
    const child = children.get(token);
    const end = child === undefined ? endOfValue(text, index) : findSpans(text, index, child, spans);
    index = skipComma(text, end);
  }
  return index + 1;
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

/** The index of the next item or member, or of the closing bracket. */
function skipComma(text: string, end: number): number {
  const index = skipSpace(text, end);
  return text.charCodeAt(index) === COMMA ? skipSpace(text, index + 1) : index;
}

/**
 * JSON has four kinds of white space; outside strings every other character of JSON sorts after
 * them.
 */
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

/** The index after a number, true, false or null. */
function endOfWord(text: string, start: number): number {
  let end = start;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (code <= SPACE || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE) break;
    end += 1;
  }
  return end;
}
