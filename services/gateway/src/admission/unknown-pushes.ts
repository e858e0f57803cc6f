/**
 * Limits how many bytes of pushes are verified in a second for networks that their integration does
 * not know (`push-limits.ts`). With only the limits per minute, a flood would keep both cores busy
 * until its minute is used up: a push of the largest body costs some 9 ms of CPU to read, to pass
 * on and to hash twice.
 *
 * - A push takes from four token buckets: the process's; one of half that size for its integration;
 *   one of half that size for its network; and one of a quarter for this network at this
 *   integration. So a flood at one integration, or from one network, leaves half of the process's
 *   bucket to the others.
 * - The integration and the process each have a second bucket, as large as the first. A network's
 *   first push in half a minute takes from these instead: the first at this integration from the
 *   integration's, the first at any integration from the process's. So networks that push again and
 *   again, however many, do not keep out a network that was not admitted yet. That network becomes
 *   known with its first valid signature.
 * - A push counts as its announced length plus PUSH_BYTES; without an announced length, as the
 *   largest body. A refused push takes nothing.
 * - The tables are bounded, and only an admitted push adds to them. At the default setting, the
 *   process's buckets admit fewer pushes in FIRST_EVERY_MS than the tables hold, so no entry that
 *   counts is dropped. At a larger setting a network may get a first push sooner.
 */
import { type Bucket, type BucketLevel, bytesAt, msUntilRefilled } from '@laurel/values/tenant';
import { LRUCache } from 'lru-cache';

export interface UnknownPushes {
  /**
   * How long until a push of `bytes` fits all of its buckets, with the rate of the bucket that
   * takes longest; null if it fits now.
   */
  waitFor(push: UnknownPush, at: number): { readonly bytesPerSecond: number; readonly waitMs: number } | null;
  /** Takes from its buckets for a push that fits them. */
  take(push: UnknownPush, at: number): void;
}

export interface UnknownPush {
  readonly integrationId: string;
  readonly network: string;
  /** The announced length of its body. */
  readonly bytes: number;
}

/** The default for each process. */
export const DEFAULT_UNKNOWN_KIB_PER_SECOND = 2 * 1024;

/**
 * What a push costs even with an empty body, expressed as so many bytes of body. It is added to the
 * length of each push.
 */
const PUSH_BYTES = 16 * 1024;
/**
 * A bucket holds the bytes of this many seconds. At the lowest setting, a quarter of a bucket still
 * holds the largest body.
 */
const SECONDS_HELD = 2;
const SHARE_AT_ONE = 1 / 2;
const SHARE_OF_NETWORK = 1 / 2;
const SHARE_OF_NETWORK_AT_ONE = 1 / 4;
const FIRST_EVERY_MS = 30_000;
const MAX_COUNTED_ITEMS = 20_000;

export function createUnknownPushes(bytesPerSecond: number): UnknownPushes {
  const levels = new LRUCache<string, BucketLevel>({ max: MAX_COUNTED_ITEMS });
  /** When a push was last admitted as a first one, by network, and by integration and network. */
  const firsts = new LRUCache<string, number>({ max: MAX_COUNTED_ITEMS });

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
