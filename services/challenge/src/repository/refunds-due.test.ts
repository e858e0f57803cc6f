/** The queue of refunds, as the sweep of libs/attempts reads it. */
import { createNextRefunds, type RefundQueue, refundsByStatus } from '@laurel/attempts';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ATTEMPT, LIVE_CHALLENGE, TERMS } from '../domain/example.ts';
import { insertAttempts } from './attempts.ts';
import { insertChallenge } from './challenges.ts';

const held = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = held.use(createDatabase({ url: scratch.url, maxConnections: 2, applicationName: 'refunds-due-test' }));
});
afterAll(() => held.disposeAsync());

/** Attempts of one challenge whose fees are to be returned, in id order. */
async function due(environment: 'live' | 'test', since: Date, count: number): Promise<readonly string[]> {
  const tenant = { programId: newId(), environment };
  const challenge = { ...LIVE_CHALLENGE, id: newId(), tenant, terms: TERMS };
  await insertChallenge(database, challenge);
  const ids = Array.from({ length: count }, () => newOwnedId('challenge')).sort();
  const attempts = ids.map((id) => ({
    attempt: {
      ...ATTEMPT,
      id,
      challengeId: challenge.id,
      accountId: newId(),
      status: 'expiring' as const,
      createdAt: new Date(),
    },
    idempotencyUse: null,
  }));
  await insertAttempts(database, attempts);
  await database.query({ text: 'insert into refunds_due (attempt_id, since) select unnest($1::uuid[]), $2' }, [
    ids,
    since,
  ]);
  return ids;
}

const now = new Date();
const ago = (ms: number) => new Date(now.getTime() - ms);

/** The sweeper's next refunds by windows of ten rows, and the windows that it has read since. */
function walker() {
  let windows = 0;
  const refunds: RefundQueue = {
    ...refundsByStatus,
    loadWindow(on, window) {
      windows += 1;
      return refundsByStatus.loadWindow(on, window);
    },
  };
  const next = createNextRefunds({ database, refunds, windowRows: 10 });
  return async (at = now) => {
    windows = 0;
    const found = (await next(5, at)).map(({ id, environment }) => [id, environment]);
    return { found, windows };
  };
}

const ofTenant = (environment: 'live' | 'test', ids: readonly string[]) => ids.map((id) => [id, environment]);

beforeEach(() => database.query({ text: 'delete from refunds_due' }));

test('refunds of real money come before older refunds of play money', async () => {
  const ofTest = await due('test', ago(60_000), 30);
  const ofLive = await due('live', now, 2);
  const olderOfLive = await due('live', ago(60_000), 1);
  const { found } = await walker()();
  expect(found).toEqual([...ofTenant('live', [...olderOfLive, ...ofLive]), ...ofTenant('test', ofTest.slice(0, 2))]);
});

test('a refund of real money does not wait for more play money than a window has', async () => {
  const ofTest = await due('test', ago(60_000), 95);
  const next = walker();
  expect(await next()).toEqual({ found: ofTenant('test', ofTest.slice(0, 5)), windows: 11 });
  const ofLive = await due('live', ago(1_000), 1);
  const expected = [...ofTenant('live', ofLive), ...ofTenant('test', ofTest.slice(0, 4))];
  // The play money before it is not read again, but for one window of what goes next.
  expect(await next()).toEqual({ found: expected, windows: 2 });
  expect(await walker()()).toEqual({ found: expected, windows: 11 });
});

test('a refund of real money that stays due does not make every run walk the queue', async () => {
  const stuck = await due('live', ago(120_000), 1);
  await due('test', ago(60_000), 95);
  const next = walker();
  expect((await next()).windows).toBe(11);
  const ofLive = await due('live', ago(1_000), 1);
  const { found, windows } = await next();
  expect(found.slice(0, 2)).toEqual(ofTenant('live', [...stuck, ...ofLive]));
  expect(windows).toBe(3);
});

test('refunds of real money that were dated long before their commit are found minutes later', async () => {
  await due('test', ago(60_000), 95);
  const next = walker();
  await next();
  const late = await due('live', ago(90_000), 1);
  expect((await next()).found).not.toContainEqual([late[0], 'live']);
  expect((await next(new Date(now.getTime() + 301_000))).found[0]).toEqual([late[0], 'live']);
});
