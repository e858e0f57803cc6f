/** Waits for what the services themselves write after the fill. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '@laurel/testing';

const POLL_MS = 500;
/** The limit for ten million attempts on two busy cores. */
const LIMIT_MS = 1_800_000;

const UNSEALED = `select count(*)::int as waiting from rounds where status = 'settling'`;
const UNCOUNTED = 'select count(*)::int as waiting from day_counts where counted_at is null';

/** Waits until every round is sealed and every day of money is counted. */
export async function whenCaughtUp(stack: Stack): Promise<void> {
  await whenZero(stack, 'tournament', UNSEALED);
  await whenZero(stack, 'wallet', UNCOUNTED);
}

async function whenZero(stack: Stack, service: 'tournament' | 'wallet', query: string): Promise<void> {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const [row] = await stack.database(service).query<{ waiting: number }>(query);
    if (row?.waiting === 0) return;
    if (Date.now() > until) throw new Error(`the ${service} service did not finish: ${row?.waiting} rows wait`);
    await sleep(POLL_MS);
  }
}
