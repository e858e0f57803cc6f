/**
 * How much a descriptor may contain when it is saved or tried out, in addition to the limit of 16
 * KiB. Each record of a body is read with the whole descriptor, so its size multiplies with the
 * number of records.
 *
 * A descriptor that an earlier release stored may exceed these limits and is still read;
 * read-record.ts bounds what its bodies cost.
 */
import { isAtMost, isJsonObject } from '@laurel/json';
import { MAX_POINTER_CHARACTERS } from './json-pointer.ts';

/**
 * Members of one object, or items of one list, at any depth: also in `evidence`, `when`, `in`,
 * `query` and `headers`.
 */
export const MAX_MEMBERS = 100;
/** Members of objects and items of lists, in the whole descriptor. */
export const MAX_VALUES = 500;

/** Names of members whose text is a pointer; the members of `evidence` are pointers too. */
const POINTERS: ReadonlySet<string> = new Set([
  'records',
  'pointer',
  'attempt_id',
  'player_ref',
  'challenge_id',
  'tournament_round_id',
  'score',
  'tiebreak',
  'evidence',
  'dedupe',
]);

/**
 * The first limit that is exceeded, as a sentence; null if none is. The value comes from a strict
 * parser, which bounds its depth.
 */
export function exceededLimitOf(descriptor: unknown): string | null {
  return excessWithin(descriptor, '', { values: 0 });
}

function excessWithin(value: unknown, path: string, count: { values: number }): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value);
  count.values += entries.length;
  if (entries.length > MAX_MEMBERS) return `${fieldOf(path)} has more than ${MAX_MEMBERS} members.`;
  if (count.values > MAX_VALUES) return `The descriptor has more than ${MAX_VALUES} values.`;
  const isEvidence = isJsonObject(value) && path === 'map.evidence';
  for (const [name, member] of entries) {
    const below = path === '' ? name : `${path}.${name}`;
    const isPointer = typeof member === 'string' && (isEvidence || (mayPoint(path) && POINTERS.has(name)));
    if (isPointer && !isAtMost(member, MAX_POINTER_CHARACTERS)) {
      return `${fieldOf(path)} has a pointer of more than ${MAX_POINTER_CHARACTERS} characters.`;
    }
    const excess = excessWithin(member, below, count);
    if (excess !== null) return excess;
  }
  return null;
}

/** Whether the descriptor's schema sets the names of members here; elsewhere the partner does. */
function mayPoint(path: string): boolean {
  return path === 'map' || path.startsWith('map.') || path === 'pull.paging';
}

function fieldOf(path: string): string {
  return path === '' ? 'The descriptor' : `The descriptor is not valid: \`${path}\``;
}
