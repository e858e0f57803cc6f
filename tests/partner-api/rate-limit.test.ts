import type { Answer } from '@laurel/testing';
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

  test('two gateways together admit exactly the limit of requests under parallel load', async () => {
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

  test('a request over the limit is 429 with the body and headers of the rate limit', async () => {
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
});
