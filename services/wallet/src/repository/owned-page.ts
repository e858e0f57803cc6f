/**
 * Pages, in id order, of the rows of one contest service. The id carries the service's tag
 * (libs/values/src/ids.ts), so SQL can filter by it.
 */
import type { ContestServiceName } from '@laurel/values/ids';

export type OwnedPage = {
  /** Only ids above this one. */
  readonly after: string;
  /** Null for all contest services, and for ids without a tag. */
  readonly owner: ContestServiceName | null;
  readonly limit: number;
};

/**
 * Two digits of each id: its version and its tag, as `contestServiceOf` (libs/values/src/ids.ts)
 * reads.
 */
export const CONTEST_SERVICE_DIGITS: Record<ContestServiceName, string> = { challenge: '81', tournament: '82' };

export function contestServiceDigitsOf(owner: ContestServiceName | null): string | null {
  return owner === null ? null : CONTEST_SERVICE_DIGITS[owner];
}

/** The same two digits of an id column, in SQL. */
export function contestServiceDigitsSql(column: string): string {
  return `substring(${column}::text from 15 for 2)`;
}
