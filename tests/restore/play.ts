/**
 * Partners that play paid attempts, and an operator that voids some. Every request is recorded, and
 * can be sent again with its key.
 */
import { randomUUID } from 'node:crypto';
import type { Attempt, AttemptRequest, Outcome } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
import type { ContestService } from '../contest-service-checks.ts';
import { expectStatus, type Player, type Program, type World } from '../world.ts';

export type Parent = { readonly challenge_id: string } | { readonly tournament_round_id: string };

/** How an attempt ends: by an outcome, or with its refund. */
export type End = 'lose' | 'win' | 'expire' | 'void';

/** One paid attempt. */
export interface Game {
  readonly player: Player;
  readonly contestService: ContestService;
  readonly entry: AttemptRequest;
  readonly score: number;
  readonly createKey: string;
  readonly outcomeKey: string;
  /** The id in the last response to its create. */
  id: string;
}

/** A request of a partner or an operator, with its response. */
export interface Step {
  readonly game: Game;
  readonly act: 'create' | End;
  /** The time in milliseconds since the epoch, as `Date.now()`. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly answer: Answer<Attempt | Outcome>;
}

/** Sends requests for the players of a program, and records each. */
export interface Play {
  /**
   * The steps are in the order of the responses. The steps of one player are also in the order in
   * which they were sent.
   */
  readonly steps: readonly Step[];
  create(player: Player, parent: Parent, score?: number): Promise<Game>;
  end(game: Game, how: End): Promise<void>;
  /** Resolves when this many requests have a response. */
  answered(requests: number): Promise<void>;
}

export function startPlay(world: World, program: Program): Play {
  const steps: Step[] = [];
  const waiting = new Set<() => void>();
  const write = async (game: Game, act: Step['act']): Promise<Step> => {
    const sentAt = Date.now();
    const answer = expectStatus(act === 'create' ? 201 : 200, await send(world, program, game, act));
    const step = { game, act, sentAt, answeredAt: Date.now(), answer };
    steps.push(step);
    for (const check of waiting) check();
    return step;
  };
  return {
    steps,
    async create(player, parent, score = 1) {
      const game: Game = {
        player,
        contestService: 'challenge_id' in parent ? 'challenge' : 'tournament',
        entry: { ...parent, player_ref: player.ref },
        score,
        createKey: randomUUID(),
        outcomeKey: randomUUID(),
        id: '',
      };
      game.id = attemptIdOf(await write(game, 'create'));
      return game;
    },
    async end(game, how) {
      await write(game, how);
    },
    answered(requests) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => {
        if (steps.length < requests) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      return promise;
    },
  };
}

/** A request that was sent again: the step of the first request, and the new response. */
export interface RepeatedStep {
  readonly step: Step;
  readonly answer: Answer<Attempt | Outcome>;
}

/**
 * Sends requests again with their keys, each player's in order, like a partner that missed the
 * responses. A create may return another attempt than before: later requests then use that one.
 */
export async function sendAgain(
  world: World,
  program: Program,
  steps: readonly Step[],
): Promise<readonly RepeatedStep[]> {
  const players = Map.groupBy(steps, ({ game }) => game.player);
  const answers = [...players.values()].map(async (own) => {
    const again: RepeatedStep[] = [];
    for (const step of own) {
      const answer = await send(world, program, step.game, step.act);
      if (step.act === 'create') step.game.id = attemptIdOf({ answer: expectStatus(201, answer) });
      again.push({ step, answer });
    }
    return again;
  });
  return (await Promise.all(answers)).flat();
}

/** The attempts that the requests concern, each once. */
export function gamesOf(steps: readonly Step[]): readonly Game[] {
  return [...new Set(steps.map(({ game }) => game))];
}

/** The attempt in the response to a create. */
export function attemptIdOf({ answer }: Pick<Step, 'answer'>): string {
  return (answer.body as Attempt).id;
}

function send(
  world: World,
  { test: partner }: Program,
  { id, entry, score, createKey, outcomeKey }: Game,
  act: Step['act'],
): Promise<Answer<Attempt | Outcome>> {
  switch (act) {
    case 'create':
      return partner.createAttempt(entry, createKey);
    case 'lose':
      return partner.reportOutcome(id, { score }, outcomeKey);
    case 'win':
      return partner.reportOutcome(id, { score: 100 }, outcomeKey);
    case 'expire':
      return partner.expireAttempt(id);
    case 'void':
      return world.operator.voidAttempt(id, 'the game server lost the run');
  }
}
