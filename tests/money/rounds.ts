/** The steps of the tests of rounds: players enter, a round closes, money moves. */
import type { Attempt, LeaderboardRow, Round } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
import { expectStatus, fullBoard, type Player, type World } from '../world.ts';

export function newPlayers(world: World, count: number): Promise<Player[]> {
  return Promise.all(Array.from({ length: count }, () => world.newPlayer()));
}

export function enter(world: World, round: Round, { ref }: Pick<Player, 'ref'>): Promise<Answer<Attempt>> {
  return world.partner.createAttempt({ tournament_round_id: round.id, player_ref: ref });
}

export async function openAttempt(world: World, round: Round, player: Player): Promise<string> {
  return expectStatus(201, await enter(world, round, player)).body.id;
}

export async function close(world: World, round: Round): Promise<Round> {
  return expectStatus(200, await world.partner.closeRound(round.id)).body;
}

export async function rows(world: World, round: Round, { ref }: Player): Promise<LeaderboardRow[]> {
  return fullBoard(await world.partner.getLeaderboard(round.id, ref)).data;
}

/** A player's movements of money without deposits, oldest first: `['fee -1.00', 'purse 5.00']`. */
export async function movements(world: World, player: Player): Promise<string[]> {
  const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
  return data
    .filter((line) => line.kind !== 'deposit')
    .map((line) => `${line.kind} ${line.amount}`)
    .reverse();
}
