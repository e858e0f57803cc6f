/** Prizes after they were won: paid, held, released, denied, and owed while the wallet is down. */

import { AwardStatus } from '@laurel/proto/attempts';
import { PayoutStatus } from '@laurel/proto/wallet';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();

/** Opens an attempt of a sandbox player on a challenge with a fee of 1.00 and a prize of 20.00. */
async function openAttempt() {
  const challenge = await h.open();
  const ref = `player-${newId()}`;
  const { accountId } = expectAccepted(
    await h.wallet.putSandboxPlayer({ player: { tenant: PROGRAM, playerRef: ref }, fundsCents: 1_000n }),
  );
  const attempt = created(await h.create(challenge.id, ref));
  return { challenge, ref, accountId, attempt };
}

/**
 * Wins an award that is held, and waits until `held` is written, because the report does not wait
 * for the write.
 */
async function heldAward() {
  const opened = await openAttempt();
  expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: opened.ref } }));
  const outcome = recorded(await h.report(opened.attempt.id, 100));
  const awardId = outcome.award?.id ?? '';
  const status = () => h.database.query({ text: 'select status from awards where id = $1' }, [awardId]);
  await expect.poll(status, { interval: 5, timeout: 10_000 }).toEqual([{ status: 'held' }]);
  return { ...opened, outcome, awardId };
}

async function awardOf(attemptId: string) {
  return expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId })).attempt?.outcome?.award;
}

describe('an award while the wallet is down', () => {
  it('a report fails while its award cannot be paid, and the repeated report returns the paid award', async () => {
    const { attempt, accountId } = await openAttempt();
    const operationId = newId();
    await h.stopWallet();
    expect(verdictOf(await h.report(attempt.id, 100, operationId))).toBe('failure');
    expect(verdictOf(await h.report(attempt.id, 100, newId()))).toBe('attempt_already_settled');
    await h.startWallet();
    const outcome = recorded(await h.report(attempt.id, 100, operationId));
    expect(outcome.award?.status).toBe(AwardStatus.PAID);
    expect(recorded(await h.report(attempt.id, 100, operationId))).toEqual(outcome);
    expect(await h.balance(accountId)).toBe(1_000n - 100n + 2_000n);
  });

  it('an award that the wallet could not pay is paid once, by a read or by the sweeper', async () => {
    const read = await openAttempt();
    const swept = await openAttempt();
    await h.stopWallet();
    expect(verdictOf(await h.report(read.attempt.id, 100))).toBe('failure');
    expect(verdictOf(await h.report(swept.attempt.id, 100))).toBe('failure');
    await expect(h.challenge.getAttempt({ tenant: PROGRAM, attemptId: read.attempt.id })).rejects.toThrow();
    await h.startWallet();

    expect((await awardOf(read.attempt.id))?.status).toBe(AwardStatus.PAID);
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    const [row] = await h.database.query({ text: 'select status from awards where attempt_id = $1' }, [
      swept.attempt.id,
    ]);
    expect(row).toEqual({ status: 'paid' });
    expect(await h.balance(read.accountId)).toBe(2_900n);
    expect(await h.balance(swept.accountId)).toBe(2_900n);
  });
});

describe('a win whose rows this database has lost', () => {
  /**
   * Opens the attempt again, as if this database had lost the commit of the outcome and everything
   * after it.
   */
  async function loseOutcome(attemptId: string): Promise<void> {
    for (const text of [
      'delete from awards where attempt_id = $1',
      'delete from unmonitored_outcomes where (select challenge_id from attempts where id = $1) = any(challenge_ids)',
      `update drift_monitors set attempts = 0, passes = 0
       where challenge_id = (select challenge_id from attempts where id = $1)`,
      'delete from outcomes where attempt_id = $1',
      `update attempts set status = 'open' where id = $1`,
    ]) {
      await h.database.query({ text }, [attemptId]);
    }
    const events = (await h.eventsOf(attemptId)).map(({ id }) => id);
    await h.database.query({ text: 'delete from outbox where event_id = any($1::uuid[])' }, [events]);
  }

  /**
   * Reports to a second replica, which decides under lock because it has not cached the attempt.
   */
  async function reportElsewhere(attemptId: string) {
    await using other = await h.startReplica();
    const report = { operationId: newId(), attemptId, tenant: PROGRAM, score: 100, evidenceJson: '' };
    const { results } = expectAccepted(
      await other.challenge.reportOutcomes({ reports: [{ ...report, requestId: '', keyUse: undefined }] }),
    );
    return recorded(results[0]?.result);
  }
  const reportHere = async (attemptId: string) => recorded(await h.report(attemptId, 100));

  it.each([
    ['on the cached attempt', reportElsewhere, reportHere],
    ['under lock', reportHere, reportElsewhere],
  ])('a lost win that is reported again %s is paid once', async (_path, first, second) => {
    for (const isHeld of [false, true]) {
      const { attempt, accountId, ref } = await openAttempt();
      if (isHeld) expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: ref } }));
      const won = await first(attempt.id);
      await loseOutcome(attempt.id);
      h.clock.advance(1_000);
      const again = await second(attempt.id);
      expect(again.receiptId).not.toBe(won.receiptId);
      expect(again.award).toEqual(won.award);
      expect(again.award?.status).toBe(isHeld ? AwardStatus.HELD : AwardStatus.PAID);
      expect(await h.balance(accountId)).toBe(isHeld ? 900n : 2_900n);
      const awardId = again.award?.id ?? '';
      expect(await h.challenge.releaseAward({ awardId })).toEqual({});
      expect(await h.balance(accountId)).toBe(2_900n);
    }
  });

  it('a win that was lost before the wallet’s decision is paid once when it is reported again', async () => {
    const { attempt, accountId } = await openAttempt();
    await h.stopWallet();
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('failure');
    await loseOutcome(attempt.id);
    await h.startWallet();
    for (const award of [(await reportHere(attempt.id)).award, await awardOf(attempt.id)]) {
      expect(award?.status).toBe(AwardStatus.PAID);
    }
    expect(await h.balance(accountId)).toBe(2_900n);
  });
});

describe('a held award', () => {
  it('a held award claims the prize without moving money', async () => {
    const { outcome, accountId, challenge, ref, attempt } = await heldAward();
    expect(outcome.award).toEqual({
      id: outcome.award?.id,
      amountCents: 2_000n,
      paidAt: undefined,
      status: AwardStatus.HELD,
    });
    expect(await awardOf(attempt.id)).toEqual(outcome.award);
    expect(await h.balance(accountId)).toBe(900n);
    expect(verdictOf(await h.create(challenge.id, ref))).toBe('challenge_already_claimed');
  });

  it('a held award is paid once, however often its release is repeated', async () => {
    const { awardId, accountId, attempt } = await heldAward();
    expect(await h.challenge.releaseAward({ awardId })).toEqual({});
    expect(await h.challenge.releaseAward({ awardId })).toEqual({});
    expect(await awardOf(attempt.id)).toMatchObject({ status: AwardStatus.PAID, paidAt: expect.any(Date) });
    expect(await h.balance(accountId)).toBe(2_900n);
    expect(await h.challenge.denyAward({ awardId })).toMatchObject({ code: 'conflict' });
  });

  it('a denied award stays unpaid and cannot be released', async () => {
    const { awardId, accountId, attempt, challenge, ref } = await heldAward();
    expect(await h.challenge.denyAward({ awardId })).toEqual({});
    expect(await h.challenge.denyAward({ awardId })).toEqual({});
    expect(await h.challenge.releaseAward({ awardId })).toMatchObject({ code: 'conflict' });
    expect(await awardOf(attempt.id)).toMatchObject({ status: AwardStatus.HELD, paidAt: undefined });
    expect(await h.balance(accountId)).toBe(900n);
    expect(verdictOf(await h.create(challenge.id, ref))).toBe('challenge_already_claimed');
  });

  it('the release and the denial of an unknown award are not_found', async () => {
    expect(await h.challenge.releaseAward({ awardId: newId() })).toMatchObject({ code: 'not_found' });
    expect(await h.challenge.denyAward({ awardId: newId() })).toMatchObject({ code: 'not_found' });
  });

  it('a concurrent release and denial of a held award never both take effect', async () => {
    const { awardId, accountId, attempt } = await heldAward();
    const [released, denied] = await Promise.all([
      h.challenge.releaseAward({ awardId }),
      h.challenge.denyAward({ awardId }),
    ]);
    const isReleased = Object.keys(released).length === 0;
    expect(isReleased ? denied : released).toMatchObject({ code: 'conflict' });
    expect((await awardOf(attempt.id))?.status).toBe(isReleased ? AwardStatus.PAID : AwardStatus.HELD);
    expect(await h.balance(accountId)).toBe(isReleased ? 2_900n : 900n);
  });

  it('the sweeper completes an interrupted release of a held award', async () => {
    const before = await heldAward();
    const after = await heldAward();
    // The status `held` is written after the response; the sweeper waits for the write.
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    await h.database.query({ text: `update awards set status = 'releasing' where id = any($1)` }, [
      [before.awardId, after.awardId],
    ]);
    expectAccepted(await h.wallet.releasePayout({ awardId: after.awardId }));
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    for (const { awardId, accountId } of [before, after]) {
      expect(expectAccepted(await h.wallet.getPayout({ awardId })).payout?.status).toBe(PayoutStatus.PAID);
      expect(await h.balance(accountId)).toBe(2_900n);
    }
    const rows = await h.database.query({ text: 'select distinct status from awards where id = any($1)' }, [
      [before.awardId, after.awardId],
    ]);
    expect(rows).toEqual([{ status: 'paid' }]);
  });
});

describe('the review of a held award', () => {
  const ANA = { operator: 'ana', reason: 'the score is plausible' };
  const BEN = { operator: 'ben', reason: 'a bot' };
  const decisionOn = async (awardId: string) => expectAccepted(await h.wallet.getPayout({ awardId })).payout?.decision;

  it('a review is stored with its operator and reason, even if the sweeper completes it', async () => {
    const reviewed = await heldAward();
    expect(await h.challenge.releaseAward({ awardId: reviewed.awardId, ...ANA })).toEqual({});
    const interrupted = await heldAward();
    await h.stopWallet();
    await expect(h.challenge.denyAward({ awardId: interrupted.awardId, ...BEN })).rejects.toThrow();
    await h.startWallet();
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    expect(await decisionOn(reviewed.awardId)).toMatchObject(ANA);
    expect(await decisionOn(interrupted.awardId)).toMatchObject(BEN);
    expect(expectAccepted(await h.wallet.getPayout({ awardId: interrupted.awardId })).payout?.status).toBe(
      PayoutStatus.DENIED,
    );
  });

  it('an interrupted review keeps its first operator and reason', async () => {
    for (const verb of ['releaseAward', 'denyAward'] as const) {
      const { awardId, accountId } = await heldAward();
      await h.stopWallet();
      await expect(h.challenge.releaseAward({ awardId, ...ANA })).rejects.toThrow();
      await h.startWallet();
      const answer = await h.challenge[verb]({ awardId, ...BEN });
      expect(answer).toMatchObject(verb === 'releaseAward' ? {} : { code: 'conflict' });
      expect(await decisionOn(awardId)).toMatchObject(ANA);
      expect(await h.balance(accountId)).toBe(2_900n);
    }
  });

  it('a review needs no reason, but a blank reason is refused', async () => {
    const { awardId, attempt, accountId } = await heldAward();
    for (const reason of ['', ' \n']) {
      expect(await h.challenge.denyAward({ awardId, operator: 'ana', reason })).toMatchObject({
        code: 'invalid_request',
      });
    }
    expect((await awardOf(attempt.id))?.status).toBe(AwardStatus.HELD);
    expect(await h.challenge.releaseAward({ awardId, operator: 'ana' })).toEqual({});
    expect(await h.balance(accountId)).toBe(2_900n);
  });
});
