/**
 * When an integration is polled. It is due at `next_poll_at`, which is an interval after its last poll began (`last_polled_at`); polls that
 * were missed are not made up for. The interval is the same after a failure. The statement that ends a poll (repository/poll-leases.ts)
 * computes the next one from the interval as the partner has it by then.
 *
 * A lease begins with the poll and keeps every other replica off. Each page that is processed renews it, so it lasts as long as a page may
 * take. When a replica dies, another goes on once the lease has run out, and no earlier than two polls of one integration may ever begin.
 */
import { later } from '@laurel/instant';
import { MIN_POLL_INTERVAL_SECONDS } from '@laurel/limits';

const MIN_INTERVAL_MS = MIN_POLL_INTERVAL_SECONDS * 1_000;
/** What settling a page's records and committing its end may take at most, beyond the request itself. */
const SETTLE_MS = 20_000;

/** Until when a lease lasts that is taken or renewed now. */
export function leaseUntil(now: Date, pageTimeoutMs: number): Date {
  return later(now, Math.max(MIN_INTERVAL_MS, pageTimeoutMs + SETTLE_MS));
}
