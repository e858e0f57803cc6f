/**
 * How much a descriptor may hold when it is saved or tried out, beside its 16 KiB. Each record of a body is read by all of it, so what is
 * counted here multiplies with the records. A stored descriptor of an earlier release may hold more: it is read all the same, and what
 * its bodies cost is bounded where they are read (read-record.ts).
 */
import { isAtMost, isJsonObject } from '@laurel/json';
import { MAX_POINTER_CHARACTERS } from './json-pointer.ts';

/** Of an object or a list anywhere in it, so also of `evidence`, `when`, `in`, `query` and `headers`. */
export const MAX_MEMBERS = 100;
/** Members of objects and items of lists, in the whole. */
export const MAX_VALUES = 500;

/** Names of members whose text is a pointer; the members of an evidence are pointers too. */
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

/** What is too much, in a sentence; null where nothing is. The value comes from a strict parser, which bounds its depth. */
export function excessOf(descriptor: unknown): string | null {
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

/** Elsewhere the names are the partner's own. */
function mayPoint(path: string): boolean {
  return path === 'map' || path.startsWith('map.') || path === 'pull.paging';
}

function fieldOf(path: string): string {
  return path === '' ? 'The descriptor' : `The descriptor is not valid: \`${path}\``;
}
