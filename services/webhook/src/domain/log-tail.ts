/**
 * The position of a reader of new deliveries. It cannot be an instant or an id: a delivery with an
 * earlier instant or id may be committed later. So the position is a snapshot of the database, and
 * a delivery is new if the snapshot does not see the transaction that inserted it. The reader gets
 * each delivery exactly once, in whichever order transactions commit.
 *
 * A reading returns the deliveries between two snapshots, `since` and `until`, in pages. After a
 * full page, more of these deliveries may be left; the next page begins after the last delivery of
 * that page.
 */
import { decodeCursor, encodeCursor } from '@laurel/values/cursor';
import { isUuid } from '@laurel/values/ids';

/** PostgreSQL's text of a `pg_snapshot`: `xmin:xmax:` and the transactions in progress. */
type Snapshot = string;

export type TailPosition = {
  /** The deliveries that this snapshot sees have been read. */
  readonly since: Snapshot;
  /**
   * The newer snapshot up to which deliveries are being read; null if no reading is in progress.
   */
  readonly until: Snapshot | null;
  /**
   * A transaction and a delivery that it inserted. The deliveries that are left sort after them.
   */
  readonly after: { readonly insertedBy: string; readonly id: string };
};

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The position after everything that the snapshot sees. */
export function tailFrom(snapshot: Snapshot): TailPosition {
  const [oldest = ''] = snapshot.split(':');
  // The snapshot sees every transaction before the oldest one in progress: none of those is new.
  return { since: snapshot, until: null, after: { insertedBy: oldest, id: NO_ID } };
}

/**
 * The position after a page that was read at `position` in a statement with this snapshot.
 * `reached` is the last delivery of a full page; null if the page had room for more.
 */
export function tailAfter(
  position: TailPosition,
  snapshot: Snapshot,
  reached: TailPosition['after'] | null,
): TailPosition {
  const until = position.until ?? snapshot;
  return reached === null ? tailFrom(until) : { since: position.since, until, after: reached };
}

export function encodeTail({ since, until, after }: TailPosition): string {
  return encodeCursor([since, until ?? '', after.insertedBy, after.id]);
}

/** The position in a cursor; null if the text is not a cursor of the tail. */
export function decodeTail(cursor: string): TailPosition | null {
  const [since = '', until = '', insertedBy = '', id = ''] = decodeCursor(cursor, 4) ?? [];
  if (!isSnapshot(since) || !(until === '' || isSnapshot(until)) || !isTransaction(insertedBy) || !isUuid(id))
    return null;
  return { since, until: until === '' ? null : until, after: { insertedBy, id } };
}

function isTransaction(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text);
}

/** Whether PostgreSQL reads the text: its transactions rise from `xmin` to below `xmax`. */
function isSnapshot(text: string): boolean {
  const [oldest = '', next = '', inProgress, ...rest] = text.split(':');
  if (inProgress === undefined || rest.length > 0) return false;
  const ids = [oldest, ...(inProgress === '' ? [] : inProgress.split(',')), next];
  if (!ids.every(isTransaction)) return false;
  return ids.every((id, index) => {
    const before = ids[index - 1];
    if (before === undefined) return true;
    // `xmin` may equal the first transaction in progress, or `xmax` if none is in progress.
    return index === 1 ? BigInt(before) <= BigInt(id) : BigInt(before) < BigInt(id);
  });
}
