/** The end of a page of the log: the sort key of its last entry, encoded so that no caller relies on its parts. */
import { isUuid } from '@laurel/ids';

export type LogCursor = { readonly at: Date; readonly id: string };

// The log has no instant of other years.
const INSTANT = /^2\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function encodeCursor({ at, id }: LogCursor): string {
  return Buffer.from(`${at.toISOString()} ${id}`).toString('base64url');
}

/** Null for a text that is no cursor. */
export function decodeCursor(text: string): LogCursor | null {
  const [instant = '', id = '', ...rest] = Buffer.from(text, 'base64url').toString('utf8').split(' ');
  if (!INSTANT.test(instant) || !isUuid(id) || rest.length > 0) return null;
  const at = new Date(instant);
  // 31 February is parsed as a day in March.
  return !Number.isNaN(at.getTime()) && at.toISOString() === instant ? { at, id } : null;
}
