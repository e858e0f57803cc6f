import { Laurel } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, joinWorld, type Player, type SharedWorld } from '../world.ts';
import { type Fate, startLossyProxy } from './lossy-proxy.ts';

const PLAYERS = 5;
const ATTEMPTS_OF_PLAYER = 100;
const ATTEMPTS = PLAYERS * ATTEMPTS_OF_PLAYER;
const LOST_SHARE = 0.3;
const RESET_SHARE = 0.05;
const SEED = 20_261_123;

describe('a partner whose network loses responses', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('500 attempts over a network that loses 30 % of the responses are charged exactly 500 times', {
    timeout: 240_000,
  }, async () => {
    const random = createRandom(SEED);
    await using proxy = await startLossyProxy(world.stack.baseUrl, () => fateOf(random()));
    const laurel = new Laurel({
      apiKey: world.partner.apiKey,
      baseUrl: proxy.baseUrl,
      // Nine failed tries in a row happen to one call in 13,000; more repetitions make the test
      // independent of its seed.
      maxRetries: 30,
      // The timeout is long, because the stack is loaded: a try that timed out would be repeated
      // and get two responses. Only the proxy may lose responses.
      timeoutMs: 60_000,
    });
    // A round accepts any number of attempts of a player. Its scores win no prize at once, and move
    // no bar.
    const round = await world.newRound({ attempt_cap: ATTEMPTS_OF_PLAYER });
    const players = await Promise.all(Array.from({ length: PLAYERS }, () => world.newPlayer({ funds: '150.00' })));

    const games = players.flatMap((player) =>
      Array.from({ length: ATTEMPTS_OF_PLAYER }, (_, game) => ({ player, game })),
    );
    const played = await inParallel(25, games, async ({ player, game }) => {
      const entry = { tournament_round_id: round.id, player_ref: player.ref };
      const created = await laurel.attempts.create(entry, { idempotencyKey: `${player.ref}-${game}` }).withResponse();
      const reported = await laurel.attempts.reportOutcome(created.data.id, { score: game }).withResponse();
      return {
        attemptId: created.data.id,
        outcome: reported.data,
        replays: [created, reported].filter((it) => it.replayed),
      };
    });

    expect(proxy.counts.pass).toBe(2 * ATTEMPTS);
    expect(proxy.counts.lose).toBeGreaterThan(0.2 * 2 * ATTEMPTS);
    expect(proxy.counts.reset).toBeGreaterThan(0);
    expect(played.flatMap(({ replays }) => replays).length).toBeGreaterThan(0.2 * 2 * ATTEMPTS);
    expect(new Set(played.map(({ attemptId }) => attemptId)).size).toBe(ATTEMPTS);
    expect(played.every(({ attemptId, outcome }) => outcome.attempt_id === attemptId)).toBe(true);

    for (const player of players) await expectCharged(player, ATTEMPTS_OF_PLAYER);
    const rows = await world.stack
      .database('tournament')
      .query<{ attempts: string; settled: string }>(
        `select count(*) as attempts, count(*) filter (where status = 'settled') as settled from attempts where round_id = $1`,
        [round.id],
      );
    expect(rows.map(({ attempts, settled }) => [Number(attempts), Number(settled)])).toEqual([[ATTEMPTS, ATTEMPTS]]);
    await world.expectAuditOk();
  });

  /** The wallet's statement has each fee once. */
  async function expectCharged(player: Player, times: number): Promise<void> {
    expect(await world.balance(player)).toBe(`${150 - times}.00`);
    const { body } = expectStatus(200, await world.operator.statement(player.accountId, 'test'));
    expect(body.data.filter(({ amount }) => amount === '-1.00')).toHaveLength(times);
  }
});

function fateOf(chance: number): Fate {
  if (chance < LOST_SHARE) return 'lose';
  return chance < LOST_SHARE + RESET_SHARE ? 'reset' : 'pass';
}

/** Returns random numbers that are the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function inParallel<Item, Result>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of rest) results.push(await work(item));
    }),
  );
  return results;
}
