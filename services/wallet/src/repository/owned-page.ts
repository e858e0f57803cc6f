/** Pages in id order of the rows that one service owns. The id itself carries the tag of its owner (libs/ids), so SQL can filter by it. */
import type { AttemptOwner } from '@laurel/ids';

export type OwnedPage = {
  /** Only ids above this one. */
  readonly after: string;
  /** Null for every owner, and for ids that carry no owner's tag. */
  readonly owner: AttemptOwner | null;
  readonly limit: number;
};

/** The version and the tag of an owned id, as ownerOf of libs/ids reads them. */
export const DIGITS: Record<AttemptOwner, string> = { challenge: '81', tournament: '82' };

export function digitsOf(owner: AttemptOwner | null): string | null {
  return owner === null ? null : DIGITS[owner];
}

/** The same two digits of a column of ids, in SQL. */
export function ownerDigits(column: string): string {
  return `substring(${column}::text from 15 for 2)`;
}
