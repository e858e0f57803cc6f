/**
 * Caches the account that each ref named in the last call to the wallet. The partner may move a
 * ref's link to another account, so a decision on a cached account holds only if the wallet finds
 * the same account before money moves. The code of each decision states when it may use the cache.
 * A ref without an account is not cached.
 */
import { LRUCache } from 'lru-cache';
import type { Player } from './domain/player.ts';

export interface AccountCache {
  get(player: Player): string | null;
  /** Caches the account of a ref. Null removes the ref, which no longer names an account. */
  put(player: Player, accountId: string | null): void;
}

// An entry takes about 200 bytes, so a full cache takes some 10 MB.
const MAX_CACHED = 50_000;

export function createAccountCache(): AccountCache {
  const accounts = new LRUCache<string, string>({ max: MAX_CACHED });

  return {
    get: (player) => accounts.get(keyOf(player)) ?? null,
    put(player, accountId) {
      if (accountId === null) accounts.delete(keyOf(player));
      else accounts.set(keyOf(player), accountId);
    },
  };
}

function keyOf({ tenant, playerRef }: Player): string {
  return `${tenant.environment}:${tenant.programId}:${playerRef}`;
}
