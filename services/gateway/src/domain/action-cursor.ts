/** The opaque cursor of the log of operator actions: instant and id of the last one of a page. */
import { isUuid } from '@laurel/ids';

export interface ActionPosition {
  readonly at: Date;
  readonly id: string;
}

export function encodeActionCursor({ at, id }: ActionPosition): string {
  return Buffer.from(JSON.stringify([at.toISOString(), id])).toString('base64url');
}

/** Null when the text is none of ours. */
export function decodeActionCursor(cursor: string): ActionPosition | null {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(key) || key.length !== 2) return null;
    const [instant, id] = key;
    if (typeof instant !== 'string' || typeof id !== 'string' || !isUuid(id)) return null;
    const at = new Date(instant);
    return at.toISOString() === instant ? { at, id } : null;
  } catch {
    return null;
  }
}
