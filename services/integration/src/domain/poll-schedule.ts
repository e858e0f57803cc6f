/**
 * When an integration is polled. It is due at `next_poll_at`, an interval after its last poll began
 * (`last_polled_at`). Missed polls are not made up for, and a failure does not change the interval.
 * The statement that ends a poll (repository/poll-leases.ts) computes the next one from the
 * interval that the integration has by then.
 *
 * A lease begins with the poll and keeps other replicas from polling. Each page that is processed
 * renews it, so it lasts as long as one page may take. If a replica dies, another one polls once
 * the lease has expired. A lease lasts at least the shortest interval, so two polls of an
 * integration never begin closer together than that.
 */
import { later } from '@laurel/values/instant';
import { MIN_POLL_INTERVAL_SECONDS } from '@laurel/values/limits';

const MIN_INTERVAL_MS = MIN_POLL_INTERVAL_SECONDS * 1_000;
/** The most time to settle a page's records and commit its end, beyond the request itself. */
const SETTLE_MS = 20_000;

/** When a lease expires that is taken or renewed now. */
export function leaseUntil(now: Date, pageTimeoutMs: number): Date {
  return later(now, Math.max(MIN_INTERVAL_MS, pageTimeoutMs + SETTLE_MS));
}
