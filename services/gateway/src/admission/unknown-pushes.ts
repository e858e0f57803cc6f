/**
 * How many bytes of pushes from networks that their integration does not know are verified in a second (`push-limits.ts`). Minutes alone let a
 * flood take both cores until its minute is used up: a push of the largest body costs some 9 ms of CPU to read, to pass on and to hash twice.
 *
 * - Four token buckets bound a push: the process's; half of it for one integration; half for one network; a quarter for a network at one
 *   integration. So a flood at one integration, or from one network, leaves half of the process's to the others.
 * - The first push of a network in half a minute takes from a second bucket of the integration, and of the process, as large: networks that
 *   push again and again, however many, do not keep out one that has not been admitted yet. It is known once its first signature is valid.
 * - A push counts as its announced length and PUSH_BYTES more; without one, as the largest body. A refused push takes nothing.
 * - The tables are bounded. Only an admitted push adds to them, and at the default setting the process's buckets admit fewer in FIRST_EVERY_MS
 *   than they hold, so that nothing is dropped that counts; at a larger one a network may have a first push sooner.
 */
import { type Bucket, type BucketLevel, bytesAt, msUntilRefilled } from '@laurel/tenant';
import { LRUCache } from 'lru-cache';

export interface UnknownPushes {
  /** How long until a push of `bytes` is within all of its buckets, and the one that takes longest; null when it is now. */
  waitFor(push: UnknownPush, at: number): { readonly bytesPerSecond: number; readonly waitMs: number } | null;
  /** Takes from its buckets for a push that is within them. */
  take(push: UnknownPush, at: number): void;
}

export interface UnknownPush {
  readonly integrationId: string;
  readonly network: string;
  /** Of its body, as announced. */
  readonly bytes: number;
}

/** In each process, unless the host sets another number. */
export const DEFAULT_UNKNOWN_KIB_PER_SECOND = 2 * 1024;

/** What a push without a body costs, as bytes of one. */
const PUSH_BYTES = 16 * 1024;
/** A bucket holds the bytes of so many seconds: at the least setting, a quarter of it still holds the largest body. */
const SECONDS_HELD = 2;
const SHARE_AT_ONE = 1 / 2;
const SHARE_OF_NETWORK = 1 / 2;
const SHARE_OF_NETWORK_AT_ONE = 1 / 4;
const FIRST_EVERY_MS = 30_000;
const MAX_COUNTED = 20_000;

export function createUnknownPushes(bytesPerSecond: number): UnknownPushes {
  const levels = new LRUCache<string, BucketLevel>({ max: MAX_COUNTED });
  /** By network, and by integration and network: when a push was last admitted as the first one. */
  const firsts = new LRUCache<string, number>({ max: MAX_COUNTED });

  const isFirst = (subject: string, at: number) => {
    const last = firsts.get(subject);
    return last === undefined || at < last || at - last >= FIRST_EVERY_MS;
  };
  const bucketsOf = ({ integrationId, network }: UnknownPush, at: number): [string, Bucket][] => {
    const pair = `${integrationId} ${network}`;
    return (
      [
        [`pair ${pair}`, SHARE_OF_NETWORK_AT_ONE],
        [`network ${network}`, SHARE_OF_NETWORK],
        [`${isFirst(pair, at) ? 'firsts at' : 'at'} ${integrationId}`, SHARE_AT_ONE],
        [isFirst(network, at) ? 'firsts' : 'all', 1],
      ] as const
    ).map(([name, share]) => {
      const rate = bytesPerSecond * share;
      return [name, { bytesPerSecond: rate, maxBytes: rate * SECONDS_HELD }];
    });
  };

  return {
    waitFor(push, at) {
      const wanted = PUSH_BYTES + push.bytes;
      const waits = bucketsOf(push, at).map(([name, bucket]) => ({
        bytesPerSecond: bucket.bytesPerSecond,
        waitMs: msUntilRefilled(bucket, levels.get(name), wanted, at),
      }));
      const longest = waits.reduce((one, other) => (other.waitMs > one.waitMs ? other : one));
      return longest.waitMs === 0 ? null : longest;
    },
    take(push, at) {
      const pair = `${push.integrationId} ${push.network}`;
      for (const [name, bucket] of bucketsOf(push, at)) {
        levels.set(name, { bytes: bytesAt(bucket, levels.get(name), at) - PUSH_BYTES - push.bytes, at });
      }
      for (const subject of [push.network, pair]) if (isFirst(subject, at)) firsts.set(subject, at);
    },
  };
}
