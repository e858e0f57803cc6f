/** JSON as lines that know which value they show, so that the place of a failure can be marked. */
import type { PointerFailure } from '../../api/api-types.ts';

export type Path = readonly string[];

export interface JsonLine {
  readonly text: string;
  /** The value that begins on this line: names of members and places in lists. */
  readonly path: Path;
}

const INDENT = '  ';

/** The lines of `JSON.stringify(value, null, 2)`. */
export function linesOf(value: unknown, path: Path = [], prefix = '', depth = 0): readonly JsonLine[] {
  const space = INDENT.repeat(depth);
  const isList = Array.isArray(value);
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (members.length === 0) return [{ text: `${space}${prefix}${JSON.stringify(value)}`, path }];
  const inside = members.flatMap(([name, member], index) => {
    const label = isList ? '' : `${JSON.stringify(name)}: `;
    const lines = linesOf(member, [...path, name], label, depth + 1);
    if (index === members.length - 1) return lines;
    return lines.map((line, at) => (at === lines.length - 1 ? { ...line, text: `${line.text},` } : line));
  });
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return [{ text: `${space}${prefix}${open}`, path }, ...inside, { text: `${space}${close}`, path }];
}

/** The first line of the value at the path, or of the nearest value around it that exists. */
export function lineAt(lines: readonly JsonLine[], path: Path): number {
  for (let length = path.length; length > 0; length -= 1) {
    const found = lines.findIndex((line) => isSame(line.path, path.slice(0, length)));
    if (found !== -1) return found;
  }
  return 0;
}

/** The tokens of a JSON Pointer (RFC 6901). */
export function tokensOf(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the place of a failure in the descriptor: `map.score` is the member `score` of `map`. */
export function placeInDescriptor({ field }: PointerFailure): Path {
  return field.split('.');
}

/** Returns the place of a failure in the sample. The pointer of a record begins at the record. */
export function placeInSample(descriptor: unknown, sample: unknown, failure: PointerFailure, record?: number): Path {
  const tokens = tokensOf(failure.pointer);
  if (record === undefined) return tokens;
  const records = tokensOf(recordsPointerOf(descriptor));
  const found = valueAt(sample, records);
  return [...records, ...(Array.isArray(found) ? [String(record)] : []), ...tokens];
}

function recordsPointerOf(descriptor: unknown): string {
  const records = valueAt(descriptor, ['map', 'records']);
  return typeof records === 'string' ? records : '';
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function isSame(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
