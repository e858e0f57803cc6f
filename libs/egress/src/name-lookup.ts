/**
 * Looks a name up over the network, as connections do later (`resolver.ts`), but once and with a
 * short deadline, because a developer waits.
 */
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopbackName, LOOPBACK_ADDRESS } from '@laurel/untrusted-url';

const DEADLINE_MS = 2_000;

/**
 * Uses the system's name servers by default. A name that does not resolve in time has no addresses.
 */
export function createNameLookup(
  servers: readonly string[] | undefined,
  deadlineMs = DEADLINE_MS,
): (name: string) => Promise<readonly string[]> {
  return async (name) => {
    if (isLoopbackName(name)) return [LOOPBACK_ADDRESS];
    const resolver = new Resolver({ timeout: deadlineMs, tries: 1 });
    if (servers !== undefined) resolver.setServers(servers);
    const done = new AbortController();
    const lookups = Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    // c-ares waits for each server in turn; cancelling it fails the queries without an answer.
    const deadline = sleep(deadlineMs, undefined, { signal: done.signal }).then(
      () => resolver.cancel(),
      () => undefined,
    );
    const results = await lookups;
    done.abort();
    await deadline;
    return results.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}
