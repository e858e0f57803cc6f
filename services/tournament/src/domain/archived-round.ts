/** A round in the files of an archived month: its entries, and the leaves of its seal. */
import { hash } from 'node:crypto';
import { type ArchivedRow, type ArchivedRowsOf, type RowWalk, walkRows } from '@laurel/attempts/domain';
import { millisecondsBetween } from '@laurel/values/instant';
import { cents } from '@laurel/values/money';
import { composeSealLeaf, type SealedRound } from './seal.ts';
import type { Direction, Environment } from './tournament.ts';

/** The files of entries, attempts and outcomes, which have one order. */
export interface EntryFiles {
  readonly entries: RowWalk;
  readonly attempts: RowWalk;
  readonly outcomes: RowWalk;
}

/** An entry with its attempts, each with its outcome if it has one. */
export interface ArchivedEntry {
  readonly entry: ArchivedRow;
  readonly runs: readonly { readonly attempt: ArchivedRow; readonly outcome: ArchivedRow | null }[];
}

/** A leaf of the seal, of a scored attempt. */
export interface ArchivedLeaf {
  readonly attemptId: string;
  readonly text: string;
}

/** Takes the next entry of the round with all that belongs to it; null after the last. */
export async function takeEntry(
  roundId: unknown,
  { entries, attempts, outcomes }: EntryFiles,
): Promise<ArchivedEntry | null> {
  const entry = await entries.takeIf((row) => row.round_id === roundId);
  if (entry === null) return null;
  const runs: { attempt: ArchivedRow; outcome: ArchivedRow | null }[] = [];
  for (;;) {
    const attempt = await attempts.takeIf((row) => row.round_id === roundId && row.account_id === entry.account_id);
    if (attempt === null) return { entry, runs };
    runs.push({ attempt, outcome: await outcomes.takeIf((row) => row.attempt_id === attempt.id) });
  }
}

/** The leaves of an entry that has a rank, in the order of the seal. */
export function leavesOf(roundId: string, { entry, runs }: ArchivedEntry): readonly ArchivedLeaf[] {
  const scored = runs.flatMap(({ attempt, outcome }) => (outcome === null ? [] : [{ attempt, outcome }]));
  scored.sort((one, other) => {
    const later = millisecondsBetween(instantOf(other.outcome.recorded_at), instantOf(one.outcome.recorded_at));
    return later || (String(one.attempt.id) < String(other.attempt.id) ? -1 : 1);
  });
  return scored.map(({ attempt, outcome }) => ({
    attemptId: String(attempt.id),
    text: composeSealLeaf({
      roundId,
      outcome: {
        attemptId: String(outcome.attempt_id),
        receiptId: String(outcome.receipt_id),
        score: Number(outcome.score),
        tiebreak: numberOrNull(outcome.tiebreak),
        recordedAt: instantOf(outcome.recorded_at),
      },
      playerRef: String(attempt.player_ref),
      receiptSha256: hash('sha256', String(outcome.receipt)),
      isBest: entry.best_attempt_id === attempt.id,
      finalRank: Number(entry.final_rank),
      payoutCents: cents(BigInt(Number(entry.payout_cents))),
    }),
  }));
}

/** All leaves of a settled round, in the order of its seal. */
export async function readLeaves(roundId: string, rows: ArchivedRowsOf): Promise<readonly ArchivedLeaf[]> {
  await using entries = walkRows(rows('entries'));
  await using attempts = walkRows(rows('attempts'));
  await using outcomes = walkRows(rows('outcomes'));
  const byRank: (readonly ArchivedLeaf[])[] = [];
  for await (const { id } of rows('rounds')) {
    for (;;) {
      const found = await takeEntry(id, { entries, attempts, outcomes });
      if (found === null) break;
      const { final_rank: rank } = found.entry;
      if (id === roundId && rank !== null) byRank[Number(rank) - 1] = leavesOf(roundId, found);
    }
    if (id === roundId) return byRank.flat();
  }
  throw new Error(`the round ${roundId} is not in the archive`);
}

export function toSealedRound(row: ArchivedRow): SealedRound {
  const { tiebreak_direction: tiebreak } = row;
  return {
    id: String(row.id),
    number: Number(row.number),
    tournamentId: String(row.tournament_id),
    tenant: { programId: String(row.program_id), environment: row.environment as Environment },
    closesAt: instantOf(row.closes_at),
    terms: {
      direction: row.direction as Direction,
      tiebreak: tiebreak === null ? null : { direction: tiebreak as Direction },
      purse: (row.purse_cents as readonly number[]).map((amount) => cents(BigInt(amount))),
    },
  };
}

export function instantOf(printed: unknown): Date {
  return new Date(String(printed));
}

export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
