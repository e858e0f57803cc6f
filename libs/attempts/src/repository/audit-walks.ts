/**
 * How the continuous audits of both contest services read the tables that both have, in slices
 * (libs/postgres/src/sliced-audit.ts).
 */
import { pageSql, type Rows, rowsOf, type Walk } from '@laurel/postgres';
import { leastIdAt } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';

export const ATTEMPTS = rowsOf('attempts', 'attempts', 'id');
export const OUTCOMES = rowsOf('outcomes', 'outcomes', 'attempt_id');
export const REFUNDS_DUE = rowsOf('refunds_due', 'refunds_due', 'attempt_id');

/**
 * The attempts and outcomes that a service audits: those of its two tables, or also those that it
 * has archived.
 */
export interface AuditedRows {
  readonly attempts: Rows;
  readonly outcomes: Rows;
  /** The tables or views in which a walk finds its pages. */
  readonly tables: { readonly attempts: string; readonly outcomes: string };
  /** How a run finds the new rows of each. */
  readonly newAttempts: NonNullable<Walk['tail']>;
  readonly newOutcomes: NonNullable<Walk['tail']>;
}

export const NEVER_ARCHIVED: AuditedRows = {
  attempts: ATTEMPTS,
  outcomes: OUTCOMES,
  tables: { attempts: 'attempts', outcomes: 'outcomes' },
  // An update leaves an attempt's row on its page, because half of each page is kept free for
  // updates.
  newAttempts: { table: 'attempts', key: 'id' },
  newOutcomes: { table: 'outcomes', key: 'attempt_id' },
};

/**
 * How old most ids of attempts are when their rows are committed. Rows with older ids wait for the
 * next whole pass.
 */
export const ATTEMPT_AGE_MS = 60_000;
/**
 * The same of outcomes and awards, which have the time of their attempt. It is open for an hour by
 * default.
 */
export const OUTCOME_AGE_MS = 75 * 60_000;

/** Finds new rows in tables where they may be on any page, because old rows are deleted. */
export const NEW_BY_ID: Pick<AuditedRows, 'newAttempts' | 'newOutcomes'> = {
  newAttempts: { leastKeyAt: leastIdAgo(ATTEMPT_AGE_MS) },
  newOutcomes: { leastKeyAt: leastIdAgo(OUTCOME_AGE_MS) },
};

/** By the instant of a commit, the least id that is no older than the age. */
export function leastIdAgo(ageMs: number): (instant: Date) => string {
  return (instant) => leastIdAt(later(instant, -ageMs));
}

const PAGE_SIZE = 2_000;

/** As SQL, what a pass sums over attempts and over outcomes. */
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
