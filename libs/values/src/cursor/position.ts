/** A position in a list sorted by an instant and then by an id, and the cursor of such a list. */
import { isUuid } from '../ids.ts';
import { decodeCursor, encodeCursor } from './key-cursor.ts';

export type Position = { readonly at: Date; readonly id: string };

/** The position above every row, at which the first page of a list begins. */
export const TOP: Position = { at: new Date('9999-12-31T23:59:59.999Z'), id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

// The years 2000 to 2999: no row of a list is outside of them, and PostgreSQL writes and reads
// every instant in them without change.
const INSTANT = /^2\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function encodePosition({ at, id }: Position): string {
  return encodeCursor([at.toISOString(), id]);
}

/** The position in a cursor; null if the text is not a cursor of such a list. */
export function decodePosition(cursor: string): Position | null {
  const [instant = '', id = ''] = decodeCursor(cursor, 2) ?? [];
  const at = decodeInstant(instant);
  return at === null || !isUuid(id) ? null : { at, id };
}

/** Parses `toISOString` output; null for any other text, and for a day that does not exist. */
export function decodeInstant(text: string): Date | null {
  if (!INSTANT.test(text)) return null;
  const instant = new Date(text);
  // Date parses 31 February as a day in March.
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === text ? instant : null;
}
