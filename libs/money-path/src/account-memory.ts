/**
 * Which account a ref named when it was last asked. A memory, never the truth: links move, so whoever uses it lets the wallet check the
 * account before money moves (the owner's decision says when it may be used at all). A ref without an account is not remembered.
 */
import { LRUCache } from 'lru-cache';
import type { Player } from './domain/player.ts';

export interface AccountMemory {
  recall(player: Player): string | null;
  remember(player: Player, accountId: string | null): void;
}

// About 200 bytes each: some 10 MB.
const MAX_REMEMBERED = 50_000;

export function createAccountMemory(): AccountMemory {
  const accounts = new LRUCache<string, string>({ max: MAX_REMEMBERED });

  return {
    recall: (player) => accounts.get(keyOf(player)) ?? null,
    remember(player, accountId) {
      if (accountId === null) accounts.delete(keyOf(player));
      else accounts.set(keyOf(player), accountId);
    },
  };
}

function keyOf({ tenant, playerRef }: Player): string {
  return `${tenant.environment}:${tenant.programId}:${playerRef}`;
}
