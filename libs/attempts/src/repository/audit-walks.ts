/**
 * How the continuous audits of both contest services read the tables that both have, in slices
 * (libs/postgres/src/sliced-audit.ts).
 */
import { pageSql, rowsOf, type Walk } from '@laurel/postgres';

export const ATTEMPTS = rowsOf('attempts', 'attempts', 'id');
export const OUTCOMES = rowsOf('outcomes', 'outcomes', 'attempt_id');
export const REFUNDS_DUE = rowsOf('refunds_due', 'refunds_due', 'attempt_id');

const PAGE_SIZE = 2_000;

/**
 * The walks over attempts, outcomes and refunds due. `sumsOfOutcomes` is SQL: what a pass sums over
 * the outcomes.
 */
export function attemptWalks(sumsOfOutcomes: string): readonly Walk[] {
  return [
    {
      name: ATTEMPTS.walk,
      shared: ATTEMPTS.shared,
      pageSize: PAGE_SIZE,
      page: pageSql('attempts', 'id'),
      // An update leaves an attempt's row on its page, because half of each page is kept free for
      // updates.
      tail: { table: 'attempts', key: 'id' },
    },
    {
      name: OUTCOMES.walk,
      shared: OUTCOMES.shared,
      pageSize: PAGE_SIZE,
      page: pageSql('outcomes', 'attempt_id'),
      sums: sumsOfOutcomes,
      tail: { table: 'outcomes', key: 'attempt_id' },
    },
    {
      name: REFUNDS_DUE.walk,
      shared: REFUNDS_DUE.shared,
      pageSize: PAGE_SIZE,
      page: pageSql('refunds_due', 'attempt_id'),
    },
  ];
}
