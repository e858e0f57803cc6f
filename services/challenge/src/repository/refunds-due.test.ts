/** The queue of refunds, as the sweep of libs/attempts reads it. */
import { refundsByStatus } from '@laurel/attempts';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('refunds of real money come before older refunds of play money', async () => {
  const [long, later] = [new Date(Date.now() - 60_000), new Date()];
  const ofTest = await due('test', long, 30);
  const ofLive = await due('live', later, 2);
  const olderOfLive = await due('live', long, 1);
  const found = await refundsByStatus.load(database, 5);
  expect(found.map(({ id, environment }) => [id, environment])).toEqual([
    ...[...olderOfLive, ...ofLive].map((id) => [id, 'live']),
    ...ofTest.slice(0, 2).map((id) => [id, 'test']),
  ]);
});
