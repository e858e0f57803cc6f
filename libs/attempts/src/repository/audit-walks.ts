/**
 * How the continuous audit of either contest service reads, in slices, the tables that both
 * services have (libs/postgres/src/sliced-audit.ts).
 */
import { pageSql, type Rows, rowsOf, type Walk } from '@laurel/postgres';
import { leastIdAt } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';

export const ATTEMPTS = rowsOf('attempts', 'attempts', 'id');
export const OUTCOMES = rowsOf('outcomes', 'outcomes', 'attempt_id');
export const REFUNDS_DUE = rowsOf('refunds_due', 'refunds_due', 'attempt_id');

/**
 * The attempts and outcomes that a service audits: the rows of its two tables, and archived rows if
 * the service archives.
 */
export interface AuditedRows {
  readonly attempts: Rows;
  readonly outcomes: Rows;
  /** The tables or views in which a walk finds its pages. */
  readonly tables: { readonly attempts: string; readonly outcomes: string };
  /** How a run finds new attempts and new outcomes. */
  readonly newAttempts: NonNullable<Walk['tail']>;
  readonly newOutcomes: NonNullable<Walk['tail']>;
}

export const NEVER_ARCHIVED: AuditedRows = {
  attempts: ATTEMPTS,
  outcomes: OUTCOMES,
  tables: { attempts: 'attempts', outcomes: 'outcomes' },
  // New rows are on the last pages of the table: an updated row stays on its page, because half of
  // each page is kept free for updates.
  newAttempts: { table: 'attempts', key: 'id' },
  newOutcomes: { table: 'outcomes', key: 'attempt_id' },
};

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

/**
 * Finds new rows by their ids, for tables in which a new row may be on any page, because old rows
 * are deleted.
 */
export const NEW_ROWS_BY_ID: Pick<AuditedRows, 'newAttempts' | 'newOutcomes'> = {
  newAttempts: { leastKeyAt: leastIdOfAge(ATTEMPT_AGE_MS) },
  newOutcomes: { leastKeyAt: leastIdOfAge(OUTCOME_AGE_MS) },
};

/** Returns a function from an instant to the least id that is at most this old at that instant. */
export function leastIdOfAge(ageMs: number): (instant: Date) => string {
  return (instant) => leastIdAt(later(instant, -ageMs));
}

const PAGE_SIZE = 2_000;

/** SQL for the sums that a pass adds up over attempts and over outcomes. */
interface SumsOfWalks {
  readonly ofAttempts?: string;
  readonly ofOutcomes: string;
}

/** The walks over attempts, outcomes and refunds due. */
export function attemptWalks(
  { attempts, outcomes, tables, newAttempts, newOutcomes }: AuditedRows,
  { ofAttempts, ofOutcomes }: SumsOfWalks,
): readonly Walk[] {
  return [
    {
      name: attempts.walk,
      shared: attempts.shared,
      pageSize: PAGE_SIZE,
      page: pageSql(tables.attempts, 'id'),
      ...(ofAttempts !== undefined && { sums: ofAttempts }),
      tail: newAttempts,
    },
    {
      name: outcomes.walk,
      shared: outcomes.shared,
      pageSize: PAGE_SIZE,
      page: pageSql(tables.outcomes, 'attempt_id'),
      sums: ofOutcomes,
      tail: newOutcomes,
    },
    {
      name: REFUNDS_DUE.walk,
      shared: REFUNDS_DUE.shared,
      pageSize: PAGE_SIZE,
      page: pageSql('refunds_due', 'attempt_id'),
    },
  ];
}
