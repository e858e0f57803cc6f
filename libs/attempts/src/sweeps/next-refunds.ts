/**
 * The refunds that a run of the sweeper posts next: those of real money, oldest first, and then
 * those of play money. Real money never waits for play money, however much of it is due: the walk
 * through the queue, a window at a time, ends only when it has found a page of real money or the
 * end of the queue.
 *
 * A long queue of play money is walked once: the next run skips the stretch in which the walk found
 * no real money. Refunds join the queue at its end, so nothing appears within the stretch, except
 * the refunds of a transaction that dated them and committed much later. Therefore the stretch ends
 * some seconds before the present, and is forgotten after some minutes.
 */
import type { Database } from '@laurel/postgres';
import { isBefore as isEarlier, later, millisecondsBetween } from '@laurel/values/instant';
import { FIRST_REFUND, type RefundDue, type RefundPosition, type RefundQueue } from '../repository/refunds-due.ts';

/** The most rows of the queue that one statement reads. */
const WINDOW_ROWS = 10_000;

/**
 * Nearly every transaction commits its refunds this soon after it dated them. One that ends a very
 * large round may not; its round is refunded by a walk of its own.
 */
const SETTLE_MS = 15_000;

/** What a later commit adds to the stretch waits no longer than this. */
const FORGOTTEN_AFTER_MS = 300_000;

/** No refund between the two positions is of real money. */
type Stretch = { readonly from: RefundPosition; readonly to: RefundPosition; readonly since: Date };

export function createNextRefunds({
  database,
  refunds,
  windowRows = WINDOW_ROWS,
}: {
  readonly database: Database;
  readonly refunds: RefundQueue;
  readonly windowRows?: number;
}) {
  let known: Stretch | null = null;

  async function nextOfLive(limit: number, now: Date): Promise<readonly RefundDue[]> {
    if (known !== null && isEarlier(later(known.since, FORGOTTEN_AFTER_MS), now)) known = null;
    const settledUntil = later(now, -SETTLE_MS);
    const found: RefundDue[] = [];
    for (let after = FIRST_REFUND; ; ) {
      if (known !== null && isWithin(after, known)) after = known.to;
      const window = { environment: 'live' as const, after, rows: windowRows, limit: limit - found.length };
      const { due, last, readTo } = await refunds.loadWindow(database, window);
      found.push(...due);
      if (found.length === limit || readTo === null) return found;
      if (isEarlier(readTo.since, settledUntil)) known = extended(known, last ?? after, readTo, now);
      after = readTo;
    }
  }

  return async function nextRefunds(limit: number, now: Date): Promise<readonly RefundDue[]> {
    const ofLive = await nextOfLive(limit, now);
    if (ofLive.length === limit) return ofLive;
    const rest = { environment: 'test' as const, after: FIRST_REFUND, rows: windowRows, limit: limit - ofLive.length };
    return [...ofLive, ...(await refunds.loadWindow(database, rest)).due];
  };
}

function extended(known: Stretch | null, from: RefundPosition, to: RefundPosition, now: Date): Stretch {
  if (known === null || !isWithin(from, known)) return { from, to, since: now };
  return isBefore(known.to, to) ? { ...known, to } : known;
}

function isWithin(position: RefundPosition, { from, to }: Stretch): boolean {
  return !isBefore(position, from) && !isBefore(to, position);
}

function isBefore(one: RefundPosition, other: RefundPosition): boolean {
  if (isEarlier(one.since, other.since)) return true;
  return millisecondsBetween(one.since, other.since) === 0 && one.attemptId < other.attemptId;
}
