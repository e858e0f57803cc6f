/**
 * How the continuous audit of either contest service reads, in slices, the tables that both
 * services have (libs/postgres/src/sliced-audit.ts).
 *
 * Attempts and outcomes are read from views that include archived rows. A row that is archived
 * during a pass keeps its key, so the pass reads the row exactly once, before or after it is
 * archived.
 */
import { pageSql, rowsOf, sharedRows, type Walk } from '@laurel/postgres';
import { leastIdAt } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';

export const ATTEMPTS = rowsOf('attempts', 'all_attempts', 'id');

// The condition on receipt_id excludes archived attempts without an outcome, which have a row of
// nulls in the view.
export const OUTCOMES = sharedRows(
  'outcomes',
  '(select attempt_id as key, o.* from all_outcomes o where o.receipt_id is not null)',
  'select slice.key, o.* from slice join all_outcomes o on o.attempt_id = slice.key where o.receipt_id is not null',
);

export const REFUNDS_DUE = rowsOf('refunds_due', 'refunds_due', 'attempt_id');

/**
 * Most attempts are committed before their ids are this old. A row that is committed later waits
 * for the next whole pass.
 */
export const ATTEMPT_AGE_MS = 60_000;
/**
 * As above, for outcomes and awards, whose ids have the time of their attempt. An attempt is open
 * for an hour by default.
 */
export const OUTCOME_AGE_MS = 75 * 60_000;

/** Returns a function from an instant to the least id that is at most this old at that instant. */
export function leastIdOfAge(ageMs: number): (instant: Date) => string {
  return (instant) => leastIdAt(later(instant, -ageMs));
}

const PAGE_SIZE = 2_000;

/** SQL for the sums that a pass adds up over attempts and over outcomes. */
interface SumsOfWalks {
  readonly ofAttempts: string;
  readonly ofOutcomes: string;
}

/**
 * The walks over attempts, outcomes and refunds due. A run finds new attempts and outcomes by their
 * ids, because a new row may be on any page of a table from which old rows are deleted.
 */
export function attemptWalks({ ofAttempts, ofOutcomes }: SumsOfWalks): readonly Walk[] {
  return [
    {
      name: ATTEMPTS.walk,
      shared: ATTEMPTS.shared,
      pageSize: PAGE_SIZE,
      page: pageSql('all_attempts', 'id'),
      sums: ofAttempts,
      tail: { leastKeyAt: leastIdOfAge(ATTEMPT_AGE_MS) },
    },
    {
      name: OUTCOMES.walk,
      shared: OUTCOMES.shared,
      pageSize: PAGE_SIZE,
      page: pageSql('all_outcomes', 'attempt_id'),
      sums: ofOutcomes,
      tail: { leastKeyAt: leastIdOfAge(OUTCOME_AGE_MS) },
    },
    {
      name: REFUNDS_DUE.walk,
      shared: REFUNDS_DUE.shared,
      pageSize: PAGE_SIZE,
      page: pageSql('refunds_due', 'attempt_id'),
    },
  ];
}
