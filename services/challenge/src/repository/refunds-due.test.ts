/** Tests the queue of refunds, as the sweep of libs/attempts reads it. */
import { nextRefundsSql, refundsByStatus } from '@laurel/attempts';
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

/** Inserts attempts of one challenge whose fees are to be refunded. Returns their ids, in order. */
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
  await database.transaction(async (tx) => {
    for (const attemptId of ids) await refundsByStatus.insert(tx, { attemptId, reason: 'expired', since });
  });
  return ids;
}

const now = new Date();
const ago = (ms: number) => new Date(now.getTime() - ms);

/** Returns the next five refunds. */
async function next() {
  return (await refundsByStatus.loadNext(database, 5)).map(({ id, environment }) => [id, environment]);
}

const ofTenant = (environment: 'live' | 'test', ids: readonly string[]) => ids.map((id) => [id, environment]);

beforeEach(() => database.query({ text: 'delete from refunds_due' }));

test('refunds of real money come before older refunds of play money, each oldest first', async () => {
  const ofTest = await due('test', ago(60_000), 30);
  const ofLive = await due('live', now, 2);
  const olderOfLive = await due('live', ago(60_000), 1);
  expect(await next()).toEqual([
    ...ofTenant('live', [...olderOfLive, ...ofLive]),
    ...ofTenant('test', ofTest.slice(0, 2)),
  ]);
});

test('a refund that an older software version queued without an environment is posted with the refunds of real money', async () => {
  const ofTest = await due('test', ago(60_000), 6);
  const [queuedBefore] = await due('test', ago(30_000), 1);
  await database.query({ text: 'update refunds_due set environment = null where attempt_id = $1' }, [queuedBefore]);
  const ofLive = await due('live', ago(1_000), 1);
  expect(await next()).toEqual([
    [queuedBefore, 'test'],
    ...ofTenant('live', ofLive),
    ...ofTenant('test', ofTest.slice(0, 3)),
  ]);
});

test('the next refunds are read by an index of each environment, not by a walk through the queue', async () => {
  await due('test', ago(60_000), 600);
  await database.query({ text: 'analyze refunds_due' });
  const plan = await database.query<{ 'QUERY PLAN': string }>({
    text: `explain ${nextRefundsSql('challenge', 'a.status').replaceAll('$1', '5')}`,
  });
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('refunds_due_of_live');
  expect(text).toContain('refunds_due_of_test');
  expect(text).not.toContain('Seq Scan on refunds_due');
});
