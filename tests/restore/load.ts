/** The load before and after the quiet instant to which databases are restored. */
import { randomUUID } from 'node:crypto';
import type { Outcome, Round } from '@laurel/sdk';
import { push } from '@laurel/testing';
import { newTarget, type Target } from '../integrations/target.ts';
import { type Developer, expectStatus, type Player, type Program, type World } from '../world.ts';
import type { End, Game, Parent, Play } from './play.ts';

/**
 * The contests that are played. Each challenge claims the pass rate that is played, so that no
 * drift monitor suspends it.
 */
export interface Contests {
  readonly losses: Parent;
  /**
   * A winner may not enter the same challenge again, so one is won before the instant, one after
   * it, and one is entered before and ended after.
   */
  readonly prizes: { readonly before: Parent; readonly after: Parent; readonly across: Parent };
  readonly round: Parent;
  /** The round in which players score before the instant, and which closes after it. */
  readonly cup: Round;
  /**
   * Reports for attempts that were created before the instant are pushed to this target after it.
   */
  readonly target: Target;
}

export async function newContests(world: World, program: Program): Promise<Contests> {
  const challenge = async (target_pass_rate: number): Promise<Parent> => ({
    challenge_id: (await world.newChallenge({ target_pass_rate }, program)).id,
  });
  return {
    losses: await challenge(0.002),
    prizes: { before: await challenge(0.9), after: await challenge(0.9), across: await challenge(0.9) },
    round: { tournament_round_id: (await world.newRound({ attempt_cap: 100 }, program)).id },
    cup: await world.newRound({}, program),
    target: await newTarget(program.test),
  };
}

/** Each player plays one attempt of every kind, and then loses until `isOver`. */
export async function playUntil(
  play: Play,
  { losses, prizes, round }: Contests,
  players: readonly Player[],
  isOver: () => boolean,
): Promise<void> {
  const playOne = async (player: Player) => {
    const run = async (parent: Parent, end: End) => play.end(await play.create(player, parent), end);
    await run(losses, 'lose');
    await run(prizes.before, 'win');
    await run(round, 'lose');
    await run(losses, 'expire');
    await run(round, 'void');
    while (!isOver()) await run(losses, 'lose');
  };
  await Promise.all(players.map(playOne));
}

/** Attempts that are open at the quiet instant, or that have ended in a round that is open then. */
export interface Carried {
  readonly games: readonly { readonly game: Game; readonly end: End }[];
  readonly pushed: Game;
}

const CARRIED: readonly { readonly in: 'challenge' | 'round'; readonly end: End }[] = [
  { in: 'challenge', end: 'lose' },
  { in: 'challenge', end: 'win' },
  { in: 'challenge', end: 'expire' },
  { in: 'challenge', end: 'void' },
  { in: 'round', end: 'lose' },
  { in: 'round', end: 'expire' },
  { in: 'round', end: 'void' },
];

/** Enters players in the cup and scores them, and opens the attempts that end after the instant. */
export async function openCarried(play: Play, contests: Contests, players: readonly Player[]): Promise<Carried> {
  const playerAt = (index: number): Player => {
    const player = players[index % players.length];
    if (player === undefined) throw new Error('there are no players');
    return player;
  };
  for (const index of [0, 1, 2]) {
    const entered = await play.create(playerAt(index), { tournament_round_id: contests.cup.id }, index + 1);
    await play.end(entered, 'lose');
  }
  const games: Carried['games'][number][] = [];
  for (const [index, { in: where, end }] of CARRIED.entries()) {
    const parent = where === 'round' ? contests.round : contests.prizes.across;
    games.push({ game: await play.create(playerAt(index), parent), end });
  }
  return { games, pushed: await play.create(playerAt(0), contests.losses) };
}

/** A deposit that an operator books from the payment provider's records, by its reference. */
export interface Deposit {
  readonly player: Player;
  readonly reference: string;
  readonly answeredAt: number;
}

/**
 * Each player ends the carried attempts, plays one attempt of every kind and gets a deposit; then
 * two attempts stay open.
 */
export async function playAfter(
  world: World,
  play: Play,
  { losses, prizes, round }: Contests,
  players: readonly Player[],
  carried: Carried,
): Promise<readonly Deposit[]> {
  const playOne = async (player: Player): Promise<Deposit> => {
    const run = async (parent: Parent, end: End) => play.end(await play.create(player, parent), end);
    for (const { game, end } of carried.games) if (game.player === player) await play.end(game, end);
    await run(losses, 'lose');
    await run(prizes.after, 'win');
    await run(round, 'lose');
    await run(losses, 'expire');
    const deposit = { player, reference: randomUUID() };
    await bookDeposit(world, deposit);
    const booked = { ...deposit, answeredAt: Date.now() };
    await run(round, 'void');
    await run(losses, 'void');
    await run(round, 'expire');
    await run(losses, 'lose');
    await play.create(player, losses);
    await play.create(player, round);
    return booked;
  };
  return Promise.all(players.map(playOne));
}

export async function bookDeposit(world: World, { player, reference }: Omit<Deposit, 'answeredAt'>): Promise<void> {
  const deposit = { environment: 'test', amount: '7.00', reference };
  expectStatus(201, await world.operator.deposit(player.accountId, deposit));
}

/** What the load adds in the last moments before the archives end. */
export interface LastMoments {
  /** The response to the pushed report. */
  readonly pushed: string;
  readonly program: Program;
}

export async function playLastMoments(
  world: World,
  { program, id }: Developer,
  { cup, target }: Contests,
  carried: Carried,
): Promise<LastMoments> {
  const { text } = await pushReport(world, target, carried.pushed);
  expectStatus(200, await program.test.closeRound(cup.id));
  return { pushed: text, program: await world.newProgram({ id }) };
}

export async function pushReport(world: World, target: Target, { id, score }: Game) {
  return expectStatus(200, await push<Outcome>(world.http, target, { attempt_id: id, score }));
}
