/** Challenges and rounds with something to see on their pages. */
import type { Challenge, Round } from '@laurel/sdk';
import { type Developer, expectStatus, type Player, type SharedWorld } from '../world.ts';

/**
 * So many settled attempts make the drift monitor keep a second reading. The monitor counts an
 * attempt after the response to its outcome.
 */
const PAID_ATTEMPTS = 60;
/** Attempts that are under way at once. */
const LANES = 6;
/** Two of ten clear the bar of 100, as the challenge claims. */
const SCORES = [40, 55, 62, 70, 74, 81, 88, 93, 100, 120];

/** The owner of a contest: a developer, or the world itself. */
type HasProgram = Pick<Developer, 'program'>;

export async function newPlayedChallenge(
  world: SharedWorld,
  { program }: HasProgram,
  scores: readonly number[] = SCORES,
): Promise<Challenge> {
  const challenge = await world.newChallenge({ name: 'Harbour run' }, program);
  const player = await world.newPlayer({ partner: program.test, funds: '500.00' });
  // A player who has won cannot start another attempt, so all are started before the first report.
  const attempts = await inLanes(PAID_ATTEMPTS, async () => {
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    return expectStatus(201, await program.test.createAttempt(entry)).body.id;
  });
  await inLanes(PAID_ATTEMPTS, async (index) => {
    const report = { score: scores[index % scores.length] ?? 0 };
    expectStatus(200, await program.test.reportOutcome(attempts[index] ?? '', report));
  });
  return challenge;
}

/** A round of three players with a score each, still open. */
export async function newPlayedRound(
  world: SharedWorld,
  { program }: HasProgram,
): Promise<{ readonly round: Round; readonly players: readonly Player[] }> {
  const round = await world.newRound({ name: 'Harbour cup' }, program);
  const players: Player[] = [];
  for (const score of [70, 90, 80]) {
    const player = await world.newPlayer({ partner: program.test });
    const entry = { tournament_round_id: round.id, player_ref: player.ref };
    const { id } = expectStatus(201, await program.test.createAttempt(entry)).body;
    expectStatus(200, await program.test.reportOutcome(id, { score }));
    players.push(player);
  }
  return { round, players };
}

async function inLanes<T>(count: number, run: (index: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  const lane = async (first: number) => {
    for (let index = first; index < count; index += LANES) results[index] = await run(index);
  };
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)));
  return results;
}
