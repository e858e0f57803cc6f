/**
 * c-ares resolves names over the network. `dns.lookup` would block one of the four threads that
 * file access and cryptography share, for as long as an untrusted name server takes. So /etc/hosts
 * and search domains have no effect here; `localhost` is this machine, without a query.
 */
import { Resolver } from 'node:dns';
import { isLoopbackName, LOOPBACK_ADDRESS } from '@laurel/untrusted-url';
import { EgressFailure } from './failure.ts';

/**
 * For the first try; the second waits twice as long. A send of 5 s still has time to connect after
 * both.
 */
const TRY_TIMEOUT_MS = 1_000;
const TRIES = 2;

export interface NameResolver {
  /**
   * All addresses of a name, IPv4 first, because more hosts reach those. Throws EgressFailure if
   * there are none.
   */
  resolve(name: string): Promise<readonly string[]>;
  cancel(): void;
}

/** Queries the system's servers unless some are given, as `address` or `address:port`. */
export function createResolver(servers?: readonly string[]): NameResolver {
  const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES });
  if (servers !== undefined && servers.length > 0) resolver.setServers(servers);

  return {
    async resolve(name) {
      if (isLoopbackName(name)) return [LOOPBACK_ADDRESS];
      const [v4, v6] = await Promise.all([
        addresses((answer) => resolver.resolve4(name, answer)),
        addresses((answer) => resolver.resolve6(name, answer)),
      ]);
      // One family suffices: many names have no IPv6, and some servers fail queries for it.
      // Connections go only to resolved addresses.
      const all = [...v4, ...v6];
      if (all.length === 0) throw new EgressFailure('dns');
      return all;
    },
    cancel: () => resolver.cancel(),
  };
}

/** Returns no addresses if the query failed, for whatever reason. */
function addresses(
  query: (answer: (error: Error | null, addresses?: readonly string[]) => void) => void,
): Promise<readonly string[]> {
  return new Promise((resolve) => query((error, found) => resolve(error === null ? (found ?? []) : [])));
}
