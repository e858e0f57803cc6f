/** What libs/money-path offers an owner of attempts besides what this service uses of it, on the tables that owners share. */
import { connectWallet, createAttemptOpener, createPendingResolver } from '@laurel/money-path';
import { createLogger } from '@laurel/service';
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

describe('the work of an owner when an attempt opens', () => {
  const MARK = { text: `update attempts set metadata = '{"opened": true}' where id = any($1::uuid[])` };

  it('is done in the commit that opens it, and once', async () => {
    const { challenge, player, attemptId } = await h.pendingAttempt();
    const told: string[] = [];
    const opener = createAttemptOpener({
      owner: 'challenge',
      database: h.database,
      logger,
      async whenOpened(tx, attemptIds) {
        told.push(...attemptIds);
        await tx.query(MARK, [attemptIds]);
      },
    });
    const fee = { attemptId, feeGeneration: 0 };
    expect(await opener.open({ attemptId, feeGeneration: 1 })).toBe(true);
    expect(await rowOf(attemptId)).toMatchObject({ status: 'pending' });
    expect(await Promise.all([opener.open(fee), opener.open(fee)])).toEqual([true, true]);
    expect(await opener.open(fee)).toBe(true);
    expect(told).toEqual([attemptId]);
    expect(await rowOf(attemptId)).toMatchObject({ status: 'open', metadata: '{"opened": true}' });

    // It was opened without its fee; now it is as it was, and is paid for.
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attemptId]);
    created(await h.create(challenge.id, player.ref, attemptId));
  });

  it('keeps the attempt pending where it fails, and the others of its batch not', async () => {
    const { attempt: good } = await h.openAttempt();
    const { attempt: bad } = await h.openAttempt();
    await h.server.sweepOnce();
    await h.database.query({ text: `update attempts set status = 'pending' where id = any($1)` }, [[good.id, bad.id]]);
    const opener = createAttemptOpener({
      owner: 'challenge',
      database: h.database,
      logger,
      async whenOpened(tx, attemptIds) {
        await tx.query(MARK, [attemptIds]);
        if (attemptIds.includes(bad.id)) throw new Error('this one cannot be booked');
      },
    });
    const fees = [good, bad].map(({ id }) => ({ attemptId: id, feeGeneration: 0 }));
    expect(await Promise.all(fees.map((fee) => opener.open(fee)))).toEqual([true, false]);
    expect(await rowOf(good.id)).toMatchObject({ status: 'open', metadata: '{"opened": true}' });
    expect(await rowOf(bad.id)).toMatchObject({ status: 'pending', metadata: '{"a":1}' });
  });
});

describe('a pending attempt that may not wait for its grace', () => {
  it('is fenced at once, and then never comes to be', async () => {
    const { attemptId } = await h.pendingAttempt();
    await using wallet = connectWallet(h.walletAddress);
    const opener = createAttemptOpener({ owner: 'challenge', database: h.database, logger });
    const resolver = createPendingResolver({ database: h.database, wallet, opener, pendingGraceMs: 60_000 });
    const attempt = { id: attemptId, feeGeneration: 0, createdAt: h.clock() };

    const young = await resolver.resolve(attempt, h.clock());
    expect(young.resolution).toEqual({ kind: 'absent' });
    const fenced = await resolver.resolve(attempt, h.clock(), { evenIfYoung: true });
    expect(fenced.resolution).toEqual({ kind: 'fenced', refusalCode: null });
    expect(await fenced.written).toBe(true);
    expect(await rowOf(attemptId)).toMatchObject({ status: 'refused', closed_reason: 'abandoned' });
  });
});
