import { randomUUID } from 'node:crypto';
import { type Answer, createPartner } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, insideOneWindow, type Program, startWorld, type World } from '../world.ts';

const LIMIT = 50;

interface LimiterBody {
  error: string;
  retry_after: number;
  limit: number;
  reset_at: string;
}

describe('the rate limit of API keys', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      replicas: { gateway: 2 },
      environment: { gateway: { RATE_LIMIT_PER_MINUTE: String(LIMIT) } },
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const list = (program: Program): Promise<Answer<unknown>> => program.test.listChallenges('a');

  test('exactly the limit of requests is admitted over two gateways under parallel load', async () => {
    const answers = await insideOneWindow(world, (program) =>
      Promise.all(Array.from({ length: LIMIT * 4 }, () => list(program))),
    );
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(LIMIT * 3);
    for (const answer of answers) {
      const remaining = Number(answer.headers['x-ratelimit-remaining']);
      expect(answer.headers['x-ratelimit-limit']).toBe(String(LIMIT));
      expect(remaining).toBeGreaterThanOrEqual(0);
      expect(remaining).toBeLessThan(LIMIT);
      if (answer.status === 429) expect(remaining).toBe(0);
    }
  });

  test('the remaining count decreases by one with every request, refused or not, over both gateways', async () => {
    const remaining = await insideOneWindow(world, async (program) => {
      const seen: number[] = [];
      const requests = [
        () => list(program),
        () => program.test.send('GET', '/v1/challenges'),
        () => program.test.send('GET', '/v1/nowhere'),
        () => program.test.send('POST', '/v1/attempts', { raw: '{' }),
        () => program.test.getAttempt(randomUUID()),
        () => program.test.listTournaments(),
        () => program.test.getLeaderboard(randomUUID()),
      ];
      for (const request of requests) seen.push(Number((await request()).headers['x-ratelimit-remaining']));
      return seen;
    });
    expect(remaining).toEqual([49, 48, 47, 46, 45, 44, 43]);
  });

  test('a request over the limit is 429 with the limiter’s body and headers', async () => {
    const refused = await insideOneWindow(world, async (program) => {
      await Promise.all(Array.from({ length: LIMIT }, () => list(program)));
      return [await list(program), await list(program)];
    });
    for (const answer of refused) {
      const body = expectStatus(429, answer).body as LimiterBody;
      expect(Object.keys(body).sort()).toEqual(['error', 'limit', 'reset_at', 'retry_after']);
      expect(body.limit).toBe(LIMIT);
      expect(body.retry_after).toBeGreaterThanOrEqual(1);
      expect(body.retry_after).toBeLessThanOrEqual(60);
      const reset = Date.parse(body.reset_at);
      expect(reset % 60_000).toBe(0);
      expect(reset).toBeGreaterThan(Date.now() - 5_000);
      expect(reset).toBeLessThanOrEqual(Date.now() + 60_000);
      expect(answer.headers['retry-after']).toBe(String(body.retry_after));
      expect(answer.headers['x-ratelimit-limit']).toBe(String(LIMIT));
      expect(answer.headers['x-ratelimit-remaining']).toBe('0');
    }
  });

  test('a replacement key continues the count of the replaced key in the same minute', async () => {
    const [before, after, statuses] = await insideOneWindow(world, async () => {
      const developer = await world.newDeveloper();
      const { program } = developer;
      for (let request = 1; request < 10; request += 1) await list(program);
      const before = await list(program);
      const { test_key: testKey } = expectStatus(200, await developer.portal.replaceTestKey(program.id)).body;
      const renewed = { ...program, test: createPartner(world.http, testKey) };
      const after = await list(renewed);
      const answers = await Promise.all(Array.from({ length: LIMIT }, () => list(renewed)));
      return [before, after, answers.map(({ status }) => status)] as const;
    });
    expect([before, after].map((answer) => answer.headers['x-ratelimit-remaining'])).toEqual(['40', '39']);
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT - 11);
  });

  test('the test and the live key of a program are counted separately', async () => {
    const statuses = await insideOneWindow(world, async (program) => {
      await Promise.all(Array.from({ length: LIMIT + 10 }, () => list(program)));
      return [(await list(program)).status, (await program.live.listChallenges('a')).status];
    });
    expect(statuses).toEqual([429, 200]);
  });

  test('a request over the limit uses no idempotency key and creates nothing', async () => {
    const player = await world.newPlayer();
    const [before, after, statuses] = await insideOneWindow(world, async (program) => {
      const challenge = await world.newChallenge({}, program);
      await Promise.all(Array.from({ length: LIMIT }, () => list(program)));
      const digest = await world.digest();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          program.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }, randomUUID()),
        ),
      );
      return [digest, await world.digest(), answers.map((answer) => answer.status)] as const;
    });
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(after).toEqual(before);
  });
});
