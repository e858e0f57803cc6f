/**
 * Tests features of libs/attempts that this service does not use, on the tables that both contest
 * services have.
 */
import { connectWallet, createAttemptOpener, createPendingResolver } from '@laurel/attempts';
import { createLogger } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, useHarness } from './challenge.fixture.ts';

const h = useHarness();
const logger = createLogger({ service: 'challenge', level: 'silent' });

async function rowOf(attemptId: string) {
  const [row] = await h.database.query<{ status: string; metadata: string; closed_reason: string | null }>(
    { text: 'select status, metadata, closed_reason from attempts where id = $1' },
    [attemptId],
  );
  return row;
}

describe('the work of a contest service when an attempt opens', () => {
  /**
   * Adds 1 to a counter in the attempt's metadata each time this statement runs for an attempt that
   * the same transaction has just opened.
   */
  const COUNT = {
    text: `
update attempts
set metadata = json_build_object('opened', coalesce((metadata::json ->> 'opened')::int, 0) + 1)
where id = any($1::uuid[]) and status = 'open' and xmin = pg_current_xact_id()::xid and 1 / (id <> $2::uuid)::int = 1`,
  };
  const openerThatCounts = (failing: string | null) =>
    createAttemptOpener({
      contestService: 'challenge',
      database: h.database,
      logger,
      whenOpened: (attemptIds) => ({ statement: COUNT, values: [attemptIds, failing ?? newId()] }),
    });

  it('the work of `whenOpened` is done once, in the commit that opens the attempt', async () => {
    const { challenge, player, attemptId } = await h.pendingAttempt();
    const opener = openerThatCounts(null);
    const fee = { attemptId, feeGeneration: 0 };
    expect(await opener.open({ attemptId, feeGeneration: 1 })).toBe(true);
    expect(await rowOf(attemptId)).toMatchObject({ status: 'pending', metadata: '{"a":1}' });
    expect(await Promise.all([opener.open(fee), opener.open(fee)])).toEqual([true, true]);
    expect(await opener.open(fee)).toBe(true);
    expect(await rowOf(attemptId)).toMatchObject({ status: 'open', metadata: '{"opened" : 1}' });

    // The test has opened the attempt although its fee was never posted. Now the attempt is pending
    // again, and the repeated creation posts the fee.
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attemptId]);
    created(await h.create(challenge.id, player.ref, attemptId));
  });

  it('an attempt for which `whenOpened` fails stays pending, and the rest of its batch opens', async () => {
    const { attempt: good } = await h.openAttempt();
    const { attempt: bad } = await h.openAttempt();
    await h.server.sweepOnce();
    await h.database.query({ text: `update attempts set status = 'pending' where id = any($1)` }, [[good.id, bad.id]]);
    const opener = openerThatCounts(bad.id);
    const fees = [good, bad].map(({ id }) => ({ attemptId: id, feeGeneration: 0 }));
    expect(await Promise.all(fees.map((fee) => opener.open(fee)))).toEqual([true, false]);
    expect(await rowOf(good.id)).toMatchObject({ status: 'open', metadata: '{"opened" : 1}' });
    expect(await rowOf(bad.id)).toMatchObject({ status: 'pending', metadata: '{"a":1}' });
  });
});

describe('the write of an attempt’s open status', () => {
  it('waiting for one attempt’s status `open` writes the delayed status of all attempts', async () => {
    const [first, second] = [await pendingAgain(), await pendingAgain()];
    const opener = createAttemptOpener({ contestService: 'challenge', database: h.database, logger });
    const answers = [first, second].map((attemptId) => opener.openCreated({ attemptId, feeGeneration: 0 }));
    expect([opener.isKnownPosted(first), opener.isKnownPosted(second)]).toEqual([true, true]);
    expect(await rowOf(first)).toMatchObject({ status: 'pending' });
    await opener.written(second);
    expect(await Promise.all(answers)).toEqual([true, true]);
    for (const attemptId of [first, second]) expect(await rowOf(attemptId)).toMatchObject({ status: 'open' });
    expect([opener.isKnownPosted(first), opener.isKnownPosted(second)]).toEqual([false, false]);
  });

  it('a delayed status `open` is written after a pause, or when the service stops', async () => {
    const [late, last] = [await pendingAgain(), await pendingAgain()];
    const opener = createAttemptOpener({ contestService: 'challenge', database: h.database, logger });
    expect(await opener.openCreated({ attemptId: late, feeGeneration: 0 })).toBe(true);
    expect(await rowOf(late)).toMatchObject({ status: 'open' });
    void opener.openCreated({ attemptId: last, feeGeneration: 0 });
    await opener.drain();
    expect(await rowOf(last)).toMatchObject({ status: 'open' });
  });

  it('a delayed status `open` is not written if an outcome settles the attempt first', async () => {
    const attemptId = await pendingAgain();
    const opener = createAttemptOpener({ contestService: 'challenge', database: h.database, logger });
    const answer = opener.openCreated({ attemptId, feeGeneration: 0 });
    opener.settled(attemptId);
    expect(await answer).toBe(true);
    expect(opener.isKnownPosted(attemptId)).toBe(false);
    await opener.drain();
    expect(await rowOf(attemptId)).toMatchObject({ status: 'pending' });
  });

  it('an attempt that a caller resolves is opened without the delay', async () => {
    const attemptId = await pendingAgain();
    const opener = createAttemptOpener({ contestService: 'challenge', database: h.database, logger });
    const behind = opener.openCreated({ attemptId, feeGeneration: 0 });
    expect(await opener.open({ attemptId, feeGeneration: 0 })).toBe(true);
    expect(await behind).toBe(true);
    expect(await rowOf(attemptId)).toMatchObject({ status: 'open' });
  });

  /** An attempt whose fee is posted while its row is still `pending`. */
  async function pendingAgain(): Promise<string> {
    const { attempt } = await h.openAttempt();
    await h.server.sweepOnce();
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attempt.id]);
    return attempt.id;
  }
});

describe('a pending attempt that must be resolved before its grace ends', () => {
  it('a pending attempt that is resolved before its grace ends gets a tombstone', async () => {
    const { attemptId } = await h.pendingAttempt();
    await using wallet = connectWallet(h.walletAddress);
    const opener = createAttemptOpener({ contestService: 'challenge', database: h.database, logger });
    const resolver = createPendingResolver({
      contestService: 'challenge',
      database: h.database,
      wallet,
      opener,
      pendingGraceMs: 60_000,
    });
    const attempt = { id: attemptId, feeGeneration: 0, createdAt: h.clock(), environment: 'test' } as const;

    const young = await resolver.resolve(attempt, h.clock());
    expect(young.resolution).toEqual({ kind: 'absent' });
    const tombstoned = await resolver.resolve(attempt, h.clock(), { evenIfYoung: true });
    expect(tombstoned.resolution).toEqual({ kind: 'tombstoned', refusalCode: null });
    expect(await tombstoned.written).toBe(true);
    expect(await rowOf(attemptId)).toMatchObject({ status: 'refused', closed_reason: 'abandoned' });
  });
});
