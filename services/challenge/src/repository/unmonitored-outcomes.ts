/**
 * The queue of settled paid attempts that the drift monitors have yet to count. A row is one batch,
 * which may span challenges. The commit that settles a batch of attempts inserts the row (here or
 * in outcomes.ts), and the transaction that counts the outcomes deletes the row. So each outcome is
 * counted at most once.
 */

import type { Queryable } from '@laurel/postgres';

/** Outcomes that settled together. */
export type UnmonitoredBatch = { readonly id: bigint; readonly outcomes: readonly UnmonitoredOutcome[] };

export type UnmonitoredOutcome = { readonly challengeId: string; readonly passed: boolean };

// The two arrays list the outcomes in the order of the batch's attempts, whether they passed or
// not.
const INSERT_UNMONITORED = {
  name: 'unmonitored_outcomes_insert',
  text: 'insert into unmonitored_outcomes (challenge_ids, passed) values ($1::uuid[], $2::bool[])',
};

// Skips rows that another counting process has locked.
const TAKE = {
  name: 'unmonitored_outcomes_take',
  text: `
with taken as materialized (
  select id from unmonitored_outcomes order by id limit $1 for update skip locked
), gone as (
  delete from unmonitored_outcomes u using taken t where u.id = t.id returning u.id, u.challenge_ids, u.passed
)
select id, challenge_ids, passed from gone order by id`,
};

const PUT_BACK = {
  name: 'unmonitored_outcomes_put_back',
  text: `
insert into unmonitored_outcomes (id, challenge_ids, passed) overriding system value values ($1, $2::uuid[], $3::bool[])`,
};

type Row = { readonly id: bigint; readonly challenge_ids: readonly string[]; readonly passed: readonly boolean[] };

/** Queues the outcomes, in the commit that settles them. */
export async function insertUnmonitoredOutcomes(on: Queryable, outcomes: readonly UnmonitoredOutcome[]): Promise<void> {
  if (outcomes.length > 0) await on.query(INSERT_UNMONITORED, columnsOf(outcomes));
}

/**
 * Removes up to `limit` batches from the queue, oldest first, and returns them. Skips batches that
 * another transaction holds.
 */
export async function takeUnmonitoredOutcomes(on: Queryable, limit: number): Promise<readonly UnmonitoredBatch[]> {
  const rows = await on.query<Row>(TAKE, [limit]);
  return rows.map(({ id, challenge_ids: challengeIds, passed }) => ({
    id,
    outcomes: challengeIds.map((challengeId, index) => ({ challengeId, passed: passed[index] === true })),
  }));
}

/**
 * Puts outcomes that were not counted back into their batches. The caller has taken these batches
 * in the same transaction.
 */
export async function putBackOutcomes(on: Queryable, batches: readonly UnmonitoredBatch[]): Promise<void> {
  await Promise.all(batches.map(({ id, outcomes }) => on.query(PUT_BACK, [id, ...columnsOf(outcomes)])));
}

function columnsOf(outcomes: readonly UnmonitoredOutcome[]): unknown[][] {
  return [outcomes.map(({ challengeId }) => challengeId), outcomes.map(({ passed }) => passed)];
}
