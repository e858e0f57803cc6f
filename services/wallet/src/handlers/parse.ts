/** From messages to the words of the domain. What a sister service must never send is a bug and throws. */
import { isUuid } from '@laurel/ids';
import { type Cents, cents } from '@laurel/money';
import { Environment as WireEnvironment } from '@laurel/proto/common';
import type { Player, Requirement as WireRequirement } from '@laurel/proto/wallet';
import type { Environment } from '../domain/ledger.ts';
import type { Requirement } from '../domain/standing.ts';
import type { PlayerName } from '../repository/player-links.ts';

/** As many items as one call may carry. */
const MAX_ITEMS = 200;

/** Below every id: where a list in id order begins. */
export const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export function parseItems<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length > MAX_ITEMS)
    throw new Error(`a call carries ${items.length} items, at most ${MAX_ITEMS} are allowed`);
  return items;
}

export function parseEnvironment(environment: WireEnvironment): Environment {
  if (environment === WireEnvironment.TEST) return 'test';
  if (environment === WireEnvironment.LIVE) return 'live';
  throw new Error(`environment ${environment} is unknown`);
}

export function parseId(id: string): string {
  if (!isUuid(id)) throw new Error('an id is not a uuid');
  return id.toLowerCase();
}

export function parseAmountAboveZero(amountCents: bigint): Cents {
  if (amountCents <= 0n) throw new Error('an amount is not above 0');
  return cents(amountCents);
}

export function parseTenant(tenant: { programId: string; environment: WireEnvironment } | undefined): {
  programId: string;
  environment: Environment;
} {
  if (tenant === undefined) throw new Error('a message lacks its tenant');
  return { programId: parseId(tenant.programId), environment: parseEnvironment(tenant.environment) };
}

export function parsePlayer(player: Player | undefined): PlayerName {
  if (player === undefined) throw new Error('a message lacks its player');
  return { ...parseTenant(player.tenant), playerRef: player.playerRef };
}

export function parseRequirement(requirement: WireRequirement | undefined): Requirement {
  if (requirement === undefined) throw new Error('a message lacks its requirement');
  return requirement;
}
