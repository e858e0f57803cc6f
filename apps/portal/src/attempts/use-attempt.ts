import type { DescribedAttempt } from '../api/api-types.ts';
import { type Reading, useRead } from '../api/use-read.ts';

const REFRESH_MS = 3_000;
/** After this long no further webhook is expected: each is sent within seconds of its event. */
const RECENT_MS = 60_000;

/** Reads an attempt again until nothing more is going to happen to it by itself. */
export function useAttempt<T extends DescribedAttempt>(path: string): Reading<T> {
  return useRead<T>(path, {}, { refreshMs: REFRESH_MS, refreshUntil: hasEnded });
}

/** Returns whether no outcome, decision on a held award or send of a webhook is to come. */
function hasEnded({ status, award, deliveries, timeline, created_at: createdAt }: DescribedAttempt): boolean {
  const last = timeline.findLast(({ at }) => at !== null)?.at ?? createdAt;
  return (
    status !== 'open' &&
    award?.payout_status !== 'held' &&
    Date.now() - Date.parse(last) > RECENT_MS &&
    deliveries.every((delivery) => delivery.status !== 'pending')
  );
}
