/**
 * Who players were when they last paid. A memory, never the truth: a fee that is decided on it is posted only if all of it still holds in
 * the statement that takes the money (decision 9). Balances are not remembered. Only who paid is: whoever was refused will be decided
 * upon anew, and must not cost the others a statement in vain.
 */
import { LRUCache } from 'lru-cache';
import type { FeeCharge, KnownPlayer } from './fee-decision.ts';

type Ref = Pick<FeeCharge, 'programId' | 'environment' | 'playerRef'>;

export interface PlayerMemory {
  recall(ref: Ref): KnownPlayer | null;
  remember(ref: Ref, player: KnownPlayer): void;
  forget(ref: Ref): void;
}

// About 500 bytes each: some 25 MB.
const MAX_REMEMBERED = 50_000;

export function createPlayerMemory(): PlayerMemory {
  const players = new LRUCache<string, KnownPlayer>({ max: MAX_REMEMBERED });

  return {
    recall: (ref) => players.get(keyOf(ref)) ?? null,
    remember: (ref, player) => void players.set(keyOf(ref), player),
    forget: (ref) => void players.delete(keyOf(ref)),
  };
}

function keyOf({ programId, environment, playerRef }: Ref): string {
  return `${environment}:${programId}:${playerRef}`;
}
