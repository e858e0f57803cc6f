/**
 * The optimistic write of attempts that were decided on a cached round, on the assumption that the
 * cap does not refuse the player. One round trip inserts them only if this assumption holds. It is
 * checked as for every other creation: under the locks on entering, in a snapshot taken after them.
 */
import { insertAfterLocks } from '@laurel/attempts';
import type { IdempotencyUse } from '@laurel/attempts/domain';
import type { BatchOptions, Database } from '@laurel/postgres';
import type { EntryRound } from '../domain/entry-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import { columnsOf, insertingAttempts } from './attempts.ts';
import { admitsAttemptSql } from './entry-rules.ts';
import { lockEnteringStatement } from './player-facts.ts';

/** An attempt to insert, and the round on which it was decided. */
export type OptimisticAttempt = {
  readonly attempt: Attempt;
  readonly round: Pick<EntryRound, 'status' | 'entriesCloseAt'>;
  readonly idempotencyUse: IdempotencyUse | null;
};

// What may have changed since the round was cached, and where it is checked:
// - The round's status and end of entries are compared here. No other field that decides an entry
//   ever changes.
// - The cap, and the time that the statement waited for its locks, are checked here, by
//   entry-rules.ts.
// - An attempt id that exists is left out, with its entry and ref.
// - An idempotency key that is recorded already is a unique violation: nothing of the batch is
//   written.
// - The sweep's low watermark: a batch that waited too long is decided again.
const INSERT = {
  name: 'attempts_insert_optimistic',
  text: insertingAttempts({
    facts: [
      ['round_status', 'text'],
      ['entries_close_at', 'timestamptz'],
    ],
    where: `(select known.id from attempts known where known.id = w.id) is null and (
    select ${admitsAttemptSql({ round: 'r', accountId: 'w.account_id' })}
    from rounds r where r.id = w.round_id and r.status = w.round_status and r.entries_close_at = w.entries_close_at)`,
  }),
};

/**
 * Returns the ids of the attempts that were written; none if one of their idempotency keys is
 * recorded already. The caller passes at most one per (round, account) and per id, because the
 * count does not see what the same statement inserts.
 */
export async function insertOptimisticAttempts(
  database: Database,
  decided: readonly OptimisticAttempt[],
  /** `now` is the instant at which the attempts were decided. */
  { now, ...options }: Pick<BatchOptions, 'beforeCommit'> & { readonly now: Date },
): Promise<ReadonlySet<string>> {
  const values = [
    ...columnsOf(decided, now),
    decided.map(({ round }) => round.status),
    decided.map(({ round }) => round.entriesCloseAt),
  ];
  const locks = lockEnteringStatement(decided.map(({ attempt }) => attempt));
  return insertAfterLocks(database, [locks, { statement: INSERT, values }], options);
}
