/** Attempts that end without an outcome: voided, expired manually, disqualified. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, OTHER_PROGRAM, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();

async function read(attemptId: string) {
  return expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId })).attempt;
}

describe('an attempt that an operator voids', () => {
  it('a voided attempt is refunded, and takes no outcome', async () => {
    const { attempt, player } = await h.openAttempt({ dailyAttemptCap: 1 });
    const voided = expectAccepted(
      await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'a broken game' }),
    ).attempt;
    expect(voided).toEqual({ ...attempt, status: AttemptStatus.VOIDED });
    expect(await read(attempt.id)).toEqual(voided);
    expect(await h.balance(player.accountId)).toBe(100_000n);
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('attempt_already_settled');
    expect(await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'again' })).toMatchObject({
      code: 'conflict',
    });
    // A refunded attempt no longer counts towards the cap.
    created(await h.create(attempt.contestId, player.ref));
  });

  it('an operator may void an attempt right after its creation', async () => {
    const challenge = await h.open({ dailyAttemptCap: 100 });
    const player = await h.player();
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        const attempt = created(await h.create(challenge.id, player.ref));
        const voided = expectAccepted(
          await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'at once' }),
        ).attempt;
        expect(voided).toEqual({ ...attempt, status: AttemptStatus.VOIDED });
      }),
    );
    expect(await h.balance(player.accountId)).toBe(100_000n);
  });

  it('only an open attempt can be voided, and only with a reason', async () => {
    const { attempt } = await h.openAttempt();
    const unknown = newOwnedId('challenge');
    expect(await h.challenge.voidAttempt({ attemptId: unknown, reason: 'x' })).toMatchObject({ code: 'not_found' });
    expect(await h.challenge.voidAttempt({ attemptId: attempt.id, reason: '' })).toMatchObject({
      code: 'invalid_request',
    });
    recorded(await h.report(attempt.id, 1));
    expect(await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'x' })).toMatchObject({ code: 'conflict' });
  });

  it('a void that failed while the wallet was down is completed by the next call', async () => {
    const { attempt, player } = await h.openAttempt();
    await h.stopWallet();
    await expect(h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'x' })).rejects.toThrow();
    await expect(h.challenge.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).rejects.toThrow();
    await h.startWallet();
    const voided = expectAccepted(await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'x' })).attempt;
    expect(voided?.status).toBe(AttemptStatus.VOIDED);
    expect(await h.balance(player.accountId)).toBe(100_000n);
  });
});

describe('a sandbox attempt that is expired manually', () => {
  it('a sandbox attempt that is expired manually is refunded', async () => {
    const { attempt, player } = await h.openAttempt();
    const expired = expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id })).attempt;
    expect(expired).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(100_000n);
    expect(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id })).toMatchObject({
      code: 'attempt_already_settled',
    });
    expect(await h.challenge.expireAttempt({ tenant: OTHER_PROGRAM, attemptId: attempt.id })).toMatchObject({
      code: 'not_found',
    });
    const live = { ...PROGRAM, environment: Environment.LIVE };
    await expect(h.challenge.expireAttempt({ tenant: live, attemptId: attempt.id })).rejects.toThrow();
  });
});

describe('an attempt that an implausible score disqualified', () => {
  it('a disqualified attempt refuses every later report and is refunded at its deadline', async () => {
    const { attempt, player } = await h.openAttempt({ scoreMin: 0, scoreMax: 1_000 });
    expect(verdictOf(await h.report(attempt.id, 1_000.5))).toBe('score_out_of_range');
    expect(verdictOf(await h.report(attempt.id, 500))).toBe('score_out_of_range');
    expect(await read(attempt.id)).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(99_900n);
    h.clock.advance(HOUR_MS);
    expect(verdictOf(await h.report(attempt.id, 500))).toBe('attempt_already_settled');
    await h.server.sweepOnce();
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(100_000n);
  });

  it('a score on a bound of the plausible window does not disqualify an attempt', async () => {
    const { attempt } = await h.openAttempt({ scoreMin: 0, scoreMax: 1_000 });
    expect(recorded(await h.report(attempt.id, 1_000)).metThreshold).toBe(true);
  });
});

describe('an attempt of a challenge that was suspended or closed meanwhile', () => {
  it('an attempt still settles after its challenge was suspended or closed', async () => {
    const { attempt, challenge, player } = await h.openAttempt();
    expectAccepted(
      await h.challenge.updateChallengeStatus({ challengeId: challenge.id, status: ChallengeStatus.CLOSED }),
    );
    expect(recorded(await h.report(attempt.id, 100, newId())).award?.amountCents).toBe(2_000n);
    expect(await h.balance(player.accountId)).toBe(101_900n);
  });
});
