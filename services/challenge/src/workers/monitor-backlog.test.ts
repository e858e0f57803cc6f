/**
 * A queue that has grown: what one transaction and one run take, in which order, and how rows that
 * commit late are counted.
 */
import { connectEvents, createOutbox, type EventStream } from '@laurel/events';
import { createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CEILINGS, LIVE_CHALLENGE, TERMS } from '../domain/example.ts';
import { insertChallenge } from '../repository/challenges.ts';
import { findMonitor, lockMonitor, startMonitor } from '../repository/drift-monitors.ts';
import { insertUnmonitoredOutcomes } from '../repository/unmonitored-outcomes.ts';
import { createChallengeMonitor } from './monitor-challenges.ts';

const held = new AsyncDisposableStack();
const clock = createTestClock();
const logger = createLogger({ service: 'challenge', level: 'silent' });
let database: Database;
let stream: EventStream;

beforeAll(async () => {
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = held.use(createDatabase({ url: scratch.runningUrl, maxConnections: 4, applicationName: 'monitor-test' }));
  // Nothing listens at this address.
  stream = held.use(connectEvents({ url: 'nats://127.0.0.1:1', prefix: 'monitor', name: 'monitor-test', logger }));
});
afterAll(() => held.disposeAsync());

function startMonitoring() {
  const outbox = createOutbox({ owner: 'challenge', database, stream, logger });
  return createChallengeMonitor({ database, outbox, logger, ceilings: CEILINGS, clock });
}

/** A live challenge with a target pass rate of 0.2. */
async function openChallenge(): Promise<string> {
  const tenant = { programId: newId(), environment: 'test' } as const;
  const challenge = { ...LIVE_CHALLENGE, id: newId(), tenant, terms: TERMS, createdAt: clock() };
  await insertChallenge(database, challenge);
  await startMonitor(database, challenge.id, clock());
  return challenge.id;
}

/** Queues this many rows of five outcomes each, one of which passes. */
async function queue(challengeId: string, rows: number): Promise<void> {
  await database.query(
    {
      text: `
        insert into unmonitored_outcomes (challenge_ids, passed)
        select array_fill($1::uuid, array[5]), '{f,f,t,f,f}' from generate_series(1, $2::int)`,
    },
    [challengeId, rows],
  );
}

const countedOf = async (challengeId: string) => (await findMonitor(database, challengeId))?.state;

describe('a queue that has grown', () => {
  it('a run that needs several transactions counts each outcome once', async () => {
    const [first, second] = [await openChallenge(), await openChallenge()];
    await queue(first, 1_700);
    await queue(second, 3);
    await using monitor = startMonitoring();
    await monitor.runOnce();
    expect(await countedOf(first)).toEqual({ attempts: 8_500, passes: 1_700 });
    expect(await countedOf(second)).toEqual({ attempts: 15, passes: 3 });
  });

  it('a backlog of one challenge does not keep the outcomes of others from being counted', async () => {
    const large = await openChallenge();
    const others = await Promise.all(Array.from({ length: 120 }, openChallenge));
    await queue(large, 25_000);
    for (const id of others) await queue(id, 1);
    await using monitor = startMonitoring();
    await monitor.runOnce();
    expect((await countedOf(large))?.attempts).toBe(50_000);
    await expect.poll(() => countedOf(large), { timeout: 60_000 }).toEqual({ attempts: 125_000, passes: 25_000 });
    for (const id of others) await expect.poll(() => countedOf(id)).toEqual({ attempts: 5, passes: 1 });
  }, 90_000);

  it('a monitor can be stopped during a backlog, and another monitor continues', async () => {
    const id = await openChallenge();
    await queue(id, 15_000);
    const stopped = startMonitoring();
    stopped.wake();
    await stopped[Symbol.asyncDispose]();
    const counted = (await countedOf(id))?.attempts ?? 0;
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThan(75_000);
    await using next = startMonitoring();
    await next.runOnce();
    await next.runOnce();
    expect(await countedOf(id)).toEqual({ attempts: 75_000, passes: 15_000 });
  }, 30_000);

  it('a batch that commits after rows with higher numbers were counted is still counted', async () => {
    const id = await openChallenge();
    await using monitor = startMonitoring();
    await database.transaction(async (late) => {
      await insertUnmonitoredOutcomes(late, [{ challengeId: id, passed: true }]);
      await queue(id, 2);
      await monitor.runOnce();
      expect(await countedOf(id)).toEqual({ attempts: 10, passes: 2 });
    });
    await monitor.runOnce();
    expect(await countedOf(id)).toEqual({ attempts: 11, passes: 3 });
  });

  it('a batch on several challenges is one row and counts for each of them', async () => {
    const [first, second] = [await openChallenge(), await openChallenge()];
    const outcomes = [first, second, first, first].map((challengeId, index) => ({ challengeId, passed: index === 2 }));
    await insertUnmonitoredOutcomes(database, outcomes);
    const rows = await database.query<{ challenge_ids: string[]; passed: boolean[] }>({
      text: 'select challenge_ids, passed from unmonitored_outcomes',
    });
    expect(rows).toEqual([{ challenge_ids: [first, second, first, first], passed: [false, false, true, false] }]);
    await using monitor = startMonitoring();
    await monitor.runOnce();
    expect(await countedOf(first)).toEqual({ attempts: 3, passes: 1 });
    expect(await countedOf(second)).toEqual({ attempts: 1, passes: 0 });
  });

  it('outcomes whose monitor is locked stay in the queue, and the others of the batch are counted', async () => {
    const [held, free] = [await openChallenge(), await openChallenge()];
    const batch = [held, free, held].map((challengeId, index) => ({ challengeId, passed: index === 2 }));
    await using monitor = startMonitoring();
    const left = () =>
      database.query(
        { text: 'select id, challenge_ids, passed from unmonitored_outcomes where $1 = any(challenge_ids)' },
        [held],
      );
    await database.transaction(async (operator) => {
      await lockMonitor(operator, held);
      await insertUnmonitoredOutcomes(database, batch);
      const [before] = await database.query<{ id: bigint }>({ text: 'select max(id) as id from unmonitored_outcomes' });
      await monitor.runOnce();
      expect(await countedOf(free)).toEqual({ attempts: 1, passes: 0 });
      expect(await countedOf(held)).toEqual({ attempts: 0, passes: 0 });
      expect(await left()).toEqual([{ id: before?.id, challenge_ids: [held, held], passed: [false, true] }]);
    });
    await monitor.runOnce();
    expect(await countedOf(held)).toEqual({ attempts: 2, passes: 1 });
    expect(await countedOf(free)).toEqual({ attempts: 1, passes: 0 });
    expect(await left()).toEqual([]);
  });
});
