/**
 * Players with the facts of their last payment: account and eligibility, never the balance. A fee
 * that is decided on the cache is posted only if the statement that takes the money finds all
 * cached facts unchanged (optimistic-fees.ts, decision 9). Only players who paid are cached. The
 * charge of a player who was refused is decided under lock each time: the optimistic statement
 * would probably not post it, and only take longer for the others.
 */
import { LRUCache } from 'lru-cache';
import type { FeeCharge, KnownPlayer } from '../domain/fee-decision.ts';

type Ref = Pick<FeeCharge, 'programId' | 'environment' | 'playerRef'>;

export interface PlayerCache {
  get(ref: Ref): KnownPlayer | null;
  put(ref: Ref, player: KnownPlayer): void;
  evict(ref: Ref): void;
}

// A cached player takes about 500 bytes: some 25 MB in total.
const MAX_CACHED = 50_000;

export function createPlayerCache(): PlayerCache {
  const players = new LRUCache<string, KnownPlayer>({ max: MAX_CACHED });

  return {
    get: (ref) => players.get(keyOf(ref)) ?? null,
    put: (ref, player) => void players.set(keyOf(ref), player),
    evict: (ref) => void players.delete(keyOf(ref)),
  };
}

function keyOf({ programId, environment, playerRef }: Ref): string {
  return `${environment}:${programId}:${playerRef}`;
}
