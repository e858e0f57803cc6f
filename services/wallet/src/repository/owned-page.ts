/** Pages in id order of what one service owns. The owner of an id stands in the id itself (libs/ids), so SQL can tell it. */
import type { AttemptOwner } from '@laurel/ids';

export type OwnedPage = {
  /** Only ids above this one. */
  readonly after: string;
  /** Null for every owner, and for ids that name none. */
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
