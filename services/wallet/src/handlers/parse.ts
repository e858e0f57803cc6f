/**
 * Parses the parts of messages that only the wallet's calls have. It throws on a value that no
 * service may send: that is a bug.
 */
import { parseTenant } from '@laurel/grpc';
import { Environment as EnvironmentMessage } from '@laurel/proto/common';
import type { Player, Requirement as WireRequirement } from '@laurel/proto/wallet';
import type { ContestServiceName } from '@laurel/values/ids';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import type { Requirement } from '../domain/eligibility.ts';
import type { PlayerName } from '../repository/player-links.ts';

/** This id is below every other: lists in id order start here. */
export const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** The contest service whose ids are requested; null for all. */
export function parseOwner(owner = ''): ContestServiceName | null {
  if (owner === '') return null;
  if (owner === 'challenge' || owner === 'tournament') return owner;
  throw new Error(`${owner} owns no attempts`);
}

export function parseAmountAboveZero(amountCents: bigint): Cents {
  if (amountCents <= 0n) throw new Error('an amount is not above 0');
  return cents(amountCents);
}

export function parsePlayer(player: Player | undefined): PlayerName {
  if (player === undefined) throw new Error('a message lacks its player');
  return { ...parseTenant(player.tenant), playerRef: player.playerRef };
}

export function parseRequirement(requirement: WireRequirement | undefined): Requirement {
  if (requirement === undefined) throw new Error('a message lacks its requirement');
  return requirement;
}

/** A limit to set: an amount, null to clear it, undefined to keep it. */
export function parseLimit(limitCents: bigint | undefined, clear: boolean | undefined): Cents | null | undefined {
  if (clear === true) return null;
  if (limitCents === undefined) return undefined;
  if (limitCents < 0n) throw new Error('a limit is below 0');
  return cents(limitCents);
}

/**
 * The environment in which an item is batched. An item that names no environment is batched with
 * live, because its money may be real.
 */
export function batchEnvironmentOf(environment: EnvironmentMessage | undefined): Environment {
  return environment === EnvironmentMessage.TEST ? 'test' : 'live';
}
