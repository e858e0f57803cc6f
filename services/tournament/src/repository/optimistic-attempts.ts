/**
 * The optimistic write of attempts: they were decided on a cached round, assuming that the cap does not refuse the player, and are written
 * in one round trip, only where that holds: under the locks on entering, in a snapshot taken after them, as every other creation is
 * decided.
 */
import type { KeyUse } from '@laurel/attempts/domain';
import { type BatchOptions, type Database, isUniqueViolation } from '@laurel/postgres';
import type { EntryRound } from '../domain/entry-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import { columnsOf, insertingAttempts } from './attempts.ts';
import { admitsAttempt } from './entry-rules.ts';
import { lockOfEntering } from './player-facts.ts';

/** An attempt to insert, and the round that it was decided on. */
export type OptimisticAttempt = {
  readonly attempt: Attempt;
  readonly round: Pick<EntryRound, 'status' | 'entriesCloseAt'>;
  readonly keyUse: KeyUse | null;
};

// What may have changed since the round was cached, and where it is checked:
// - status and end of entries of the round: compared here. Nothing else of its row that an entry is decided on ever changes.
// - the cap, and the time while the statement waited for its locks: checked here, by entry-rules.ts.
// - the attempt id: one that already exists is left out, with its entry and ref.
// - the idempotency key: one that is recorded already is a unique violation, and nothing of the batch is written.
// - the low watermark of the sweep: a batch that waited too long is decided again.
const INSERT = {
  name: 'attempts_insert_optimistic',
  text: insertingAttempts({
    facts: [
      ['round_status', 'text'],
      ['entries_close_at', 'timestamptz'],
    ],
    where: `(select known.id from attempts known where known.id = w.id) is null and (
    select ${admitsAttempt({ round: 'r', accountId: 'w.account_id' })}
    from rounds r where r.id = w.round_id and r.status = w.round_status and r.entries_close_at = w.entries_close_at)`,
  }),
};

/**
 * The ids of those that were written. At most one for each (round, account) and for each id: the count does not see what the same
 * statement inserts. None where one of their idempotency keys is recorded already.
 */
export async function insertOptimisticAttempts(
  database: Database,
  decided: readonly OptimisticAttempt[],
  /** `now` is the instant that they were decided at. */
  { now, ...options }: Pick<BatchOptions, 'beforeCommit'> & { readonly now: Date },
): Promise<ReadonlySet<string>> {
  const values = [
    ...columnsOf(decided, now),
    decided.map(({ round }) => round.status),
    decided.map(({ round }) => round.entriesCloseAt),
  ];
  const statements = [lockOfEntering(decided.map(({ attempt }) => attempt)), { statement: INSERT, values }] as const;
  try {
    const [, rows] = await database.batch<[unknown, { id: string }]>(statements, options);
    return new Set(rows.map((row) => row.id));
  } catch (error) {
    if (isUniqueViolation(error)) return new Set();
    throw error;
  }
}
