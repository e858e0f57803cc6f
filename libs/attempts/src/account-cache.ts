/**
 * The account that each ref named at the last call of the wallet. Links move, so a decision on a
 * cached account holds only if the wallet finds the same account before money moves; the decision
 * itself defines when the cache may be used. A ref without an account is not cached.
 */
import { LRUCache } from 'lru-cache';
import type { Player } from './domain/player.ts';

export interface AccountCache {
  get(player: Player): string | null;
  /** Puts the account of a ref; null evicts the ref, which names no account. */
  put(player: Player, accountId: string | null): void;
}

// An entry takes about 200 bytes: some 10 MB in all.
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
