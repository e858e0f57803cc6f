/** Payouts that wait for an operator. */
import type { PayoutBody } from '@laurel/testing';
import { expectStatus, type Player, type World } from '../world.ts';

export interface HeldPayout {
  readonly award_id: string;
  readonly attemptId: string;
  readonly player: Player;
}

type Makes = Pick<World, 'operator' | 'partner' | 'newChallenge' | 'newPlayer' | 'newRound' | 'playRound'>;

/**
 * A player under investigation misses the bar of 100 once, and then wins 5.00 in the sandbox with
 * evidence. A new player by default.
 */
export async function newHeldPayout(
  world: Makes,
  before?: Player,
): Promise<HeldPayout & { readonly missedId: string }> {
  const challenge = await world.newChallenge();
  const player = before ?? (await world.newPlayer());
  expectStatus(200, await world.operator.updateAccount(player.accountId, { under_investigation: true }));
  const entry = { challenge_id: challenge.id, player_ref: player.ref };
  const play = async (score: number) => {
    const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
    const report = { score, evidence: { replay: `replay of ${score}` } };
    return { id, outcome: expectStatus(200, await world.partner.reportOutcome(id, report)).body };
  };
  const missed = await play(40);
  const { id: attemptId, outcome } = await play(100);
  return { award_id: outcome.award?.id ?? '', attemptId, missedId: missed.id, player };
}

/** The held payout of 5.00 for the first of two players in a settled round of the sandbox. */
export async function newHeldRank(world: Makes): Promise<HeldPayout & { readonly roundId: string }> {
  const { id: roundId } = await world.newRound({ name: 'Harbour cup' });
  const [player, second] = [await world.newPlayer(), await world.newPlayer()];
  const { attempt_id: attemptId } = await world.playRound(roundId, player, 90);
  await world.playRound(roundId, player, 20);
  await world.playRound(roundId, second, 70);
  expectStatus(204, await world.partner.holdNextAward(player.ref));
  expectStatus(200, await world.partner.closeRound(roundId));
  const path = `/rounds/${roundId}/standings?account_id=${player.accountId}`;
  const { data } = expectStatus(200, await world.operator.send<{ data: { award_id: string }[] }>('GET', path)).body;
  return { award_id: data[0]?.award_id ?? '', attemptId, player, roundId };
}

/** The payout as operators read it. */
export async function payoutOf({ operator }: Pick<World, 'operator'>, awardId: string): Promise<PayoutBody> {
  return expectStatus(200, await operator.getPayout(awardId)).body;
}
