/** The end of a page of the delivery log: the sort key of its last row, encoded so that no caller relies on its parts. */
import { isUuid } from '@laurel/ids';

export type LogCursor = { readonly createdAt: Date; readonly id: string };

// The log has no instant of other years.
const INSTANT = /^2\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function encodeCursor({ createdAt, id }: LogCursor): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString('base64url');
}

/** Null for a text that is no cursor. */
export function decodeCursor(text: string): LogCursor | null {
  const [instant = '', id = '', ...rest] = Buffer.from(text, 'base64url').toString('utf8').split(' ');
  if (!INSTANT.test(instant) || !isUuid(id) || rest.length > 0) return null;
  const createdAt = new Date(instant);
  // 31 February is parsed as a day in March.
  return !Number.isNaN(createdAt.getTime()) && createdAt.toISOString() === instant ? { createdAt, id } : null;
}
