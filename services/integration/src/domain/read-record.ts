/**
 * Reads one record with a descriptor. Returns the report, or the first pointer of the descriptor
 * that does not lead to a value of the right kind.
 */
import { MAX_EVIDENCE_BYTES } from '@laurel/attempts/domain';
import { isAtMost, isJsonObject, spansAt, spellsNul } from '@laurel/json';
import { isUuid } from '@laurel/values/ids';
import { isPlayerRef, MAX_PLAYER_REF_CHARACTERS } from '@laurel/values/tenant';
import type {
  AttemptSource,
  Condition,
  EvidenceMembers,
  EvidenceSource,
  NumberSource,
  RecordMap,
  TextSource,
} from './descriptor.ts';
import { type Json, type PointerFailure, partAt } from './json-body.ts';
import { type JsonPointer, shortenedPointer, valueAt, WHOLE } from './json-pointer.ts';

/** The attempt that a record names, or the player and the parent of the attempt. */
export type ReportedAttempt =
  | { readonly kind: 'id'; readonly attemptId: string }
  | {
      readonly kind: 'player';
      readonly playerRef: string;
      readonly parent: { readonly kind: 'challenge' | 'round'; readonly id: string };
      readonly pick: 'only' | 'oldest';
    };

export type Report = {
  readonly kind: 'report';
  readonly attempt: ReportedAttempt;
  readonly score: number;
  readonly tiebreak?: number;
  /** The text that was sent; empty without evidence. */
  readonly evidenceJson: string;
  /** The partner's identifier of the report; null without `dedupe` in the descriptor. */
  readonly dedupe: string | null;
};

type Unreadable = { readonly kind: 'unreadable'; readonly failure: PointerFailure };

export type ReadRecord =
  | Report
  /** The descriptor's `when` excludes it. */
  | { readonly kind: 'ignored' }
  | Unreadable;

const MAX_DEDUPE_CHARACTERS = 255;
const EVIDENCE_BYTES_PER_BYTE = 4;

const OVER_BUDGET = `is too large: all evidence of a body has at most ${EVIDENCE_BYTES_PER_BYTE} times its size and ${MAX_EVIDENCE_BYTES / 1024} KiB`;
const WITH_NUL = 'must have no text with NUL';
const MISSING = 'names nothing in the record';

/**
 * A whole string that spells a number as JSON does: no leading plus or zero, no white space, no
 * names such as `Infinity`.
 */
const NUMERIC = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * How much evidence the records of one body may have together. Constants, and pointers that lead to
 * the same value, write more than was sent. Without this bound a small body, or a descriptor of
 * many members, would write megabytes.
 */
export type EvidenceBudget = { bytesLeft: number };

export function evidenceBudgetOf(body: Json): EvidenceBudget {
  return { bytesLeft: MAX_EVIDENCE_BYTES + EVIDENCE_BYTES_PER_BYTE * body.text.length };
}

export function readRecord(map: RecordMap, record: Json, budget: EvidenceBudget): ReadRecord {
  if (!map.when.every((condition) => holds(condition, record))) return { kind: 'ignored' };
  const attempt = readAttempt(map.attempt, record);
  if (attempt.kind === 'unreadable') return attempt;
  // NUL is refused even where the descriptor does not read it, because no body of `/v1` may contain
  // it.
  if (spellsNul(record.text)) return unreadable(WHOLE, 'map.records', WITH_NUL);
  const score = readNumber(map.score, 'map.score', record);
  if (typeof score === 'object') return score;
  // If the pointer leads to nothing, the record has no tiebreak. Anything but a number is a
  // mistake, null included.
  const hasTiebreak = map.tiebreak !== null && valueAt(record.value, map.tiebreak.pointer) !== undefined;
  const tiebreak = hasTiebreak ? readNumber(map.tiebreak, 'map.tiebreak', record) : undefined;
  if (typeof tiebreak === 'object') return tiebreak;
  const evidenceJson = map.evidence === null ? '' : readEvidence(map.evidence, record, budget);
  if (typeof evidenceJson === 'object') return evidenceJson;
  const dedupe = map.dedupe === null ? null : readDedupe(map.dedupe, record);
  if (typeof dedupe === 'object' && dedupe !== null) return dedupe;
  return { kind: 'report', attempt, score, ...(tiebreak === undefined ? {} : { tiebreak }), evidenceJson, dedupe };
}

/** A pointer that leads to nothing matches no accepted value. */
function holds({ pointer, in: accepted }: Condition, { value }: Json): boolean {
  const found = valueAt(value, pointer);
  return accepted.some((one) => one === found);
}

function readAttempt(source: AttemptSource, record: Json): ReportedAttempt | Unreadable {
  if (source.kind === 'id') {
    const attemptId = readId({ pointer: source.attemptId }, 'map.attempt.attempt_id', record);
    return typeof attemptId === 'string' ? { kind: 'id', attemptId } : attemptId;
  }
  const playerRef = readName(source.playerRef, 'map.attempt.player_ref', record);
  if (typeof playerRef === 'object') return playerRef;
  if (!isPlayerRef(playerRef)) {
    const message = `must have 1 to ${MAX_PLAYER_REF_CHARACTERS} characters and no NUL`;
    return unreadable(source.playerRef, 'map.attempt.player_ref', message);
  }
  const { kind } = source.parent;
  const field = kind === 'challenge' ? 'map.attempt.challenge_id' : 'map.attempt.tournament_round_id';
  const id = readId(source.parent.id, field, record);
  return typeof id === 'string' ? { kind: 'player', playerRef, parent: { kind, id }, pick: source.pick } : id;
}

function readId(source: TextSource, field: string, record: Json): string | Unreadable {
  if ('const' in source) return source.const;
  const found = valueAt(record.value, source.pointer);
  if (found === undefined) return unreadable(source.pointer, field, MISSING);
  const isId = typeof found === 'string' && isUuid(found);
  return isId ? found.toLowerCase() : unreadable(source.pointer, field, 'must be a uuid');
}

function readNumber({ pointer, as }: NumberSource, field: string, record: Json): number | Unreadable {
  const found = valueAt(record.value, pointer);
  if (found === undefined) return unreadable(pointer, field, MISSING);
  if (as === 'number') {
    return typeof found === 'number' ? found : unreadable(pointer, field, 'must be a finite number');
  }
  const number = typeof found === 'string' && NUMERIC.test(found) ? Number(found) : Number.NaN;
  return Number.isFinite(number) ? number : unreadable(pointer, field, 'must be a string that holds a finite number');
}

/**
 * A partner's identifier: a string, or a whole number, which is read as its digits. A number is
 * refused if a double cannot keep each digit.
 */
function readName(pointer: JsonPointer, field: string, record: Json): string | Unreadable {
  const found = valueAt(record.value, pointer);
  if (found === undefined) return unreadable(pointer, field, MISSING);
  if (typeof found === 'string') return found;
  if (Number.isSafeInteger(found)) return String(found);
  return unreadable(pointer, field, 'must be a string, or a whole number of at most 2^53 - 1');
}

function readDedupe(pointer: JsonPointer, record: Json): string | Unreadable {
  const dedupe = readName(pointer, 'map.dedupe', record);
  if (typeof dedupe === 'object') return dedupe;
  const isFit = dedupe !== '' && isAtMost(dedupe, MAX_DEDUPE_CHARACTERS);
  return isFit ? dedupe : unreadable(pointer, 'map.dedupe', `must have 1 to ${MAX_DEDUPE_CHARACTERS} characters`);
}

function readEvidence(source: EvidenceSource, record: Json, budget: EvidenceBudget): string | Unreadable {
  const pointer = source.kind === 'object' ? source.pointer : WHOLE;
  const text = source.kind === 'object' ? evidenceAt(source.pointer, record) : evidenceOf(source, record);
  if (text !== null && typeof text === 'object') return text;
  if (text === null || Buffer.byteLength(text) > MAX_EVIDENCE_BYTES) {
    return unreadable(pointer, 'map.evidence', `must have at most ${MAX_EVIDENCE_BYTES / 1024} KiB`);
  }
  // A descriptor that was saved before NUL was refused may contain it in a constant.
  if (spellsNul(text)) return unreadable(pointer, 'map.evidence', WITH_NUL);
  const bytes = Buffer.byteLength(text);
  if (bytes > budget.bytesLeft) return unreadable(pointer, 'map.evidence', OVER_BUDGET);
  budget.bytesLeft -= bytes;
  return text;
}

function evidenceAt(pointer: JsonPointer, record: Json): string | Unreadable {
  const part = partAt(record, pointer);
  if (part === null) return '';
  return isJsonObject(part.value) ? part.text : unreadable(pointer, 'map.evidence', 'must be an object');
}

/**
 * Composes an object with the descriptor's names and the record's unchanged values. Omits members
 * that the record lacks; if it lacks all of them, returns an empty text. Returns null once the text
 * is too long, without composing the rest.
 */
function evidenceOf({ members, paths }: EvidenceMembers, record: Json): string | null {
  const spans = spansAt(record.text, paths);
  const written: string[] = [];
  let characters = 2;
  for (const [place, { nameText, constText }] of members.entries()) {
    const span = spans.get(place);
    const length = constText?.length ?? (span === undefined ? null : span.end - span.start);
    if (length === null) continue;
    // A character takes at least one byte, so the text has at least this many bytes.
    characters += nameText.length + length + 2;
    if (characters - 1 > MAX_EVIDENCE_BYTES) return null;
    written.push(`${nameText}:${constText ?? record.text.slice(span?.start, span?.end)}`);
  }
  return written.length === 0 ? '' : `{${written.join(',')}}`;
}

/**
 * The pointer is shortened, because a pointer of an old descriptor may have kilobytes, and each
 * record of a body would repeat it.
 */
function unreadable({ text }: JsonPointer, field: string, message: string): Unreadable {
  return { kind: 'unreadable', failure: { pointer: shortenedPointer(text), field, message } };
}
