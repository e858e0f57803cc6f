/**
 * Which account a ref named when it was last asked. A memory, never the truth: links move, so whoever uses it lets the wallet check the
 * account before money moves (the owner's decision says when it may be used at all). A ref without an account is not remembered.
 */
import type { Player } from './domain/player.ts';

export interface AccountMemory {
  recall(player: Player): string | null;
  remember(player: Player, accountId: string | null): void;
}

// About 200 bytes each: some 10 MB.
const MAX_REMEMBERED = 50_000;

export function createAccountMemory(): AccountMemory {
  // A Map keeps insertion order, so its first key is the one that was learnt longest ago.
  const accounts = new Map<string, string>();

  return {
    recall: (player) => accounts.get(keyOf(player)) ?? null,
    remember(player, accountId) {
      const key = keyOf(player);
      accounts.delete(key);
      if (accountId === null) return;
      accounts.set(key, accountId);
      if (accounts.size <= MAX_REMEMBERED) return;
      const [oldest] = accounts.keys();
      if (oldest !== undefined) accounts.delete(oldest);
    },
  };
}

function keyOf({ tenant, playerRef }: Player): string {
  return `${tenant.environment}:${tenant.programId}:${playerRef}`;
}
