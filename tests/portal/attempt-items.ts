/** Makes what the pages of attempts show. */
import { type Developer, expectStatus, type SharedWorld } from '../world.ts';

/** An attempt of the developer's program in test that won 5.00, and whose webhook was delivered. */
export async function newWonAttempt(world: SharedWorld, developer: Developer) {
  const { program } = developer;
  const hook = await world.newReceiver(developer, { program_id: program.id, environment: 'test' });
  const challenge = await world.newChallenge({}, program);
  const player = await world.newPlayer({ partner: program.test });
  const asked = { challenge_id: challenge.id, player_ref: player.ref, metadata: { match: 'm-1' } };
  const attempt = expectStatus(201, await program.test.createAttempt(asked)).body;
  const report = { score: 100, evidence: { frames: [1, 2, 3] } };
  expectStatus(200, await program.test.reportOutcome(attempt.id, report));
  const { deliveryId } = await hook.event('attempt.settled', attempt.id);
  await hook.delivery(deliveryId);
  return { hook, challenge, player, attempt, deliveryId };
}

/** An attempt of a round that has been settled: its receipt has the seal. */
export async function newSealedAttempt(world: SharedWorld, { program }: Developer) {
  const round = await world.newRound({}, program);
  const player = await world.newPlayer({ partner: program.test });
  const asked = { tournament_round_id: round.id, player_ref: player.ref };
  const attempt = expectStatus(201, await program.test.createAttempt(asked)).body;
  expectStatus(200, await program.test.reportOutcome(attempt.id, { score: 41.5 }));
  expectStatus(200, await program.test.closeRound(round.id));
  return { round, attempt };
}
