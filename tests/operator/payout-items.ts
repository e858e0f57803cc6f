/** Payouts that wait for an operator. */
import type { PayoutBody } from '@laurel/testing';
import { expectStatus, type Player, type SharedWorld } from '../world.ts';

export interface HeldPayout {
  readonly award_id: string;
  readonly attemptId: string;
  readonly player: Player;
}

/** A player under investigation wins 5.00 in the sandbox. */
export async function newHeldPayout(world: SharedWorld): Promise<HeldPayout> {
  const challenge = await world.newChallenge();
  const player = await world.newPlayer();
  expectStatus(200, await world.operator.updateAccount(player.accountId, { under_investigation: true }));
  const entry = { challenge_id: challenge.id, player_ref: player.ref };
  const attempt = expectStatus(201, await world.partner.createAttempt(entry)).body;
  const { award } = expectStatus(200, await world.partner.reportOutcome(attempt.id, { score: 100 })).body;
  return { award_id: award?.id ?? '', attemptId: attempt.id, player };
}

/** The payout as operators read it. */
export async function payoutOf(world: SharedWorld, awardId: string): Promise<PayoutBody | undefined> {
  const { data } = expectStatus(200, await world.operator.listPayouts()).body;
  return data.find((payout) => payout.award_id === awardId);
}
