/**
 * The cursor of a list whose rows are numbered from 1: rounds of a tournament, ranks of a board. It
 * contains nothing else of the row: a sort key, for example, would reveal the entry.
 */
import { decodeCursor, encodeCursor } from '@laurel/values/cursor';

/** The greatest number of a row: PostgreSQL's integer. */
export const MAX_NUMBER = 2_147_483_647;

const NUMBER = /^[1-9]\d{0,9}$/;

export function encodeNumber(number: number): string {
  return encodeCursor([`${number}`]);
}

/** The number in a cursor; null if the text is not a cursor of a numbered list. */
export function decodeNumber(cursor: string): number | null {
  const [text = ''] = decodeCursor(cursor, 1) ?? [];
  const number = Number(text);
  return NUMBER.test(text) && number <= MAX_NUMBER ? number : null;
}
