import { Laurel, LaurelError, type LaurelOptions } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insideOneWindow, type Program, startWorld, type World } from '../world.ts';

const LIMIT = 300;
/**
 * The requests that a client sends while it does not know how many are left, and some that overtake
 * each other at the end of a minute.
 */
const REFUSED_PER_CLIENT = 25;

describe('a client that wants to send more requests than a minute allows', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ environment: { gateway: { RATE_LIMIT_PER_MINUTE: String(LIMIT) } } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** A client, and the statuses of all its responses. */
  function createClient(
    program: Program,
    options: Partial<LaurelOptions> = {},
  ): { laurel: Laurel; statuses: number[] } {
    const statuses: number[] = [];
    const laurel = new Laurel({
      apiKey: program.test.apiKey,
      baseUrl: world.stack.baseUrl,
      fetch: async (url, request) => {
        const response = await fetch(url, request);
        statuses.push(response.status);
        return response;
      },
      ...options,
    });
    return { laurel, statuses };
  }

  const refused = (statuses: readonly number[]) => statuses.filter((status) => status === 429).length;

  test('450 concurrent calls on two clients of one key all succeed', {
    timeout: 180_000,
  }, async () => {
    const program = await world.newProgram();
    const clients = [createClient(program), createClient(program)];
    await Promise.all(clients.flatMap(({ laurel }) => Array.from({ length: 225 }, () => laurel.tournaments.list())));
    for (const { statuses } of clients) {
      expect(statuses.filter((status) => status === 200)).toHaveLength(225);
      expect(refused(statuses)).toBeLessThanOrEqual(REFUSED_PER_CLIENT);
    }
  });

  test('calls that cannot wait for the next minute fail as rate_limited', {
    timeout: 180_000,
  }, async () => {
    const calls = 400;
    const { ends, statuses } = await insideOneWindow(world, async (program) => {
      // The deadline is long enough for 300 responses of a loaded stack. If the next minute begins
      // in time for the rest, `insideOneWindow` repeats everything.
      const { laurel, statuses } = createClient(program, { timeoutMs: 20_000, deadlineMs: 20_000 });
      const ends = await Promise.allSettled(Array.from({ length: calls }, () => laurel.tournaments.list()));
      return { ends, statuses };
    });
    const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    expect(errors).toHaveLength(calls - LIMIT);
    for (const error of errors) {
      expect(error).toBeInstanceOf(LaurelError);
      expect(error.code).toBe('rate_limited');
      expect(error.retryAfterMs).toBeGreaterThan(0);
      expect(error.retryAfterMs).toBeLessThanOrEqual(60_500);
    }
    expect(refused(statuses)).toBeGreaterThan(0);
    expect(refused(statuses)).toBeLessThanOrEqual(REFUSED_PER_CLIENT);
  });
});
