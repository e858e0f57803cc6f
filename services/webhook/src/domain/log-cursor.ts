/** Where a page of the delivery log ended: the sort key of its last row, wrapped so that no caller comes to rely on what is in it. */
import { isUuid } from '@laurel/ids';

export type LogCursor = { readonly createdAt: Date; readonly id: string };

// No other year can be in a log.
const INSTANT = /^2\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function encodeCursor({ createdAt, id }: LogCursor): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString('base64url');
}

/** Null for what is no cursor of ours. */
export function decodeCursor(text: string): LogCursor | null {
  const [instant = '', id = '', ...rest] = Buffer.from(text, 'base64url').toString('utf8').split(' ');
  if (!INSTANT.test(instant) || !isUuid(id) || rest.length > 0) return null;
  const createdAt = new Date(instant);
  return Number.isNaN(createdAt.getTime()) ? null : { createdAt, id };
}
