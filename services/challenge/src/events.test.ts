/**
 * The events for partners, read from the outbox. Each fact emits one event, in the commit that
 * makes the fact true.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventIdOf } from '@laurel/events';
import { AttemptStatus, AwardStatus } from '@laurel/proto/attempts';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { type Event, Owner, PayoutStatus, RefundReason } from '@laurel/proto/events';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { created, HOUR_MS, PROGRAM, recorded, useHarness, verdictOf } from './challenge.fixture.ts';
import type { FailpointName } from './failpoints.ts';

// The failpoints library reads its folder when it is loaded, which is before the code below.
const failpoints = vi.hoisted(() => {
  const directory = `${process.env.TMPDIR ?? '/tmp'}/laurel-challenge-events-${process.pid}`;
  process.env.FAILPOINTS_DIR = directory;
  return directory;
});
beforeAll(() => mkdirSync(failpoints, { recursive: true }));
afterAll(() => rmSync(failpoints, { recursive: true, force: true }));

function arm(failpoint: FailpointName, action: 'throw' | `delay:${number}`): void {
  const draft = join(failpoints, '.draft');
  writeFileSync(draft, action);
  renameSync(draft, join(failpoints, failpoint));
}

function isArmed(failpoint: FailpointName): boolean {
  return existsSync(join(failpoints, failpoint));
}

const h = useHarness();

/** The tenant and owner of every event in this file. */
const FROM = { tenant: PROGRAM, owner: Owner.CHALLENGE };

/**
 * Opens an attempt of a sandbox player, whose next award can be held, on a challenge with a fee of
 * 1.00 and a prize of 20.00.
 */
async function openAttempt() {
  const challenge = await h.open();
  const ref = `player-${newId()}`;
  expectAccepted(await h.wallet.putSandboxPlayer({ player: { tenant: PROGRAM, playerRef: ref }, fundsCents: 1_000n }));
  return { challenge, ref, attempt: created(await h.create(challenge.id, ref)) };
}

async function heldAward() {
  const opened = await openAttempt();
  expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: opened.ref } }));
  const outcome = recorded(await h.report(opened.attempt.id, 100));
  await written();
  return { ...opened, awardId: outcome.award?.id ?? '' };
}

/**
 * Waits until the wallet's decision on an award is recorded, which happens after the response. The
 * sweeper waits for this record, or writes it.
 */
async function written(): Promise<void> {
  h.clock.advance(2_000);
  await h.server.sweepOnce();
}

function read(attemptId: string) {
  return h.challenge.getAttempt({ tenant: PROGRAM, attemptId });
}

/** Returns the event of a paid win. The report that won and the sweeper emit the same event. */
function paidWin(
  { attempt, challenge, ref }: Awaited<ReturnType<typeof openAttempt>>,
  { recordedAt, award }: ReturnType<typeof recorded>,
): Event {
  return {
    id: eventIdOf('attempt.settled', attempt.id),
    occurredAt: recordedAt,
    ...FROM,
    payload: {
      $case: 'attemptSettled',
      value: {
        attemptId: attempt.id,
        challengeId: challenge.id,
        tournamentRoundId: '',
        playerRef: ref,
        score: 100,
        metThreshold: true,
        award: { id: award?.id ?? '', amountCents: 2_000n, payoutStatus: PayoutStatus.PAID },
        recordedAt,
      },
    },
  };
}

function payloadsOf(events: readonly Event[]) {
  return events.map(({ payload }) => payload);
}

describe('attempt.settled', () => {
  it('attempt.settled is emitted once for a losing outcome, however often it is reported', async () => {
    const { attempt, challenge, player } = await h.openAttempt();
    const operationId = newId();
    const outcome = recorded(await h.report(attempt.id, 99.5, operationId));
    const settled: Event = {
      id: eventIdOf('attempt.settled', attempt.id),
      occurredAt: outcome.recordedAt,
      ...FROM,
      payload: {
        $case: 'attemptSettled',
        value: {
          attemptId: attempt.id,
          challengeId: challenge.id,
          tournamentRoundId: '',
          playerRef: player.ref,
          score: 99.5,
          metThreshold: false,
          award: undefined,
          recordedAt: outcome.recordedAt,
        },
      },
    };
    expect(await h.eventsOf(attempt.id)).toEqual([settled]);
    recorded(await h.report(attempt.id, 99.5, operationId));
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('attempt_already_settled');
    await h.server.sweepOnce();
    expect(await h.eventsOf(attempt.id)).toEqual([settled]);
  });

  it('attempt.settled is emitted for a free attempt whose player has no account', async () => {
    const challenge = await h.open({}, { status: ChallengeStatus.CALIBRATING, threshold: undefined });
    const attempt = created(await h.create(challenge.id, 'unlinked'));
    recorded(await h.report(attempt.id, 1_000));
    expect(payloadsOf(await h.eventsOf(attempt.id))).toEqual([
      {
        $case: 'attemptSettled',
        value: expect.objectContaining({ playerRef: 'unlinked', score: 1_000, metThreshold: false, award: undefined }),
      },
    ]);
  });

  it('attempt.settled is emitted once for each attempt that one call settles', async () => {
    const challenge = await h.open({ dailyAttemptCap: 100 });
    const player = await h.player();
    const attempts = await Promise.all(
      Array.from({ length: 20 }, async () => created(await h.create(challenge.id, player.ref))),
    );
    const reports = [...attempts, ...attempts].map(({ id }, index) => ({
      operationId: newId(),
      attemptId: id,
      tenant: PROGRAM,
      score: index,
      evidenceJson: '',
      requestId: '',
      keyUse: undefined,
    }));
    expectAccepted(await h.challenge.reportOutcomes({ reports }));
    for (const [index, { id }] of attempts.entries()) {
      expect(payloadsOf(await h.eventsOf(id))).toEqual([
        { $case: 'attemptSettled', value: expect.objectContaining({ attemptId: id, score: index }) },
      ]);
    }
  });

  it('attempt.settled is emitted once for a win, with the award as the wallet decided it', async () => {
    const { attempt, challenge, ref } = await openAttempt();
    const operationId = newId();
    const outcome = recorded(await h.report(attempt.id, 100, operationId));
    recorded(await h.report(attempt.id, 100, operationId));
    await written();
    const settled = paidWin({ attempt, challenge, ref }, outcome);
    expect(await h.eventsOf(attempt.id)).toEqual([settled]);
    recorded(await h.report(attempt.id, 100, operationId));
    expectAccepted(await read(attempt.id));
    await written();
    expect(await h.eventsOf(attempt.id)).toEqual([settled]);
  });

  it('attempt.settled is emitted once for a win whose award is held', async () => {
    const { attempt, awardId } = await heldAward();
    expect(payloadsOf(await h.eventsOf(attempt.id))).toEqual([
      {
        $case: 'attemptSettled',
        value: expect.objectContaining({
          metThreshold: true,
          award: { id: awardId, amountCents: 2_000n, payoutStatus: PayoutStatus.HELD },
        }),
      },
    ]);
  });

  it('attempt.settled has no award if the prize was claimed before', async () => {
    const { attempt: first, challenge, player } = await h.openAttempt();
    const second = created(await h.create(challenge.id, player.ref));
    recorded(await h.report(first.id, 100));
    expect(recorded(await h.report(second.id, 100)).award).toBeUndefined();
    expect(payloadsOf(await h.eventsOf(second.id))).toEqual([
      { $case: 'attemptSettled', value: expect.objectContaining({ metThreshold: true, award: undefined }) },
    ]);
  });

  it('attempt.settled is not emitted for a win before the sweeper has paid the award', async () => {
    const { attempt } = await openAttempt();
    await h.stopWallet();
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('failure');
    expect(await h.eventsOf(attempt.id)).toEqual([]);
    await h.startWallet();
    await written();
    expect(await h.eventsOf(attempt.id)).toHaveLength(1);
    await written();
    expect(await h.eventsOf(attempt.id)).toHaveLength(1);
  });

  it('attempt.settled is emitted once for a win that two replicas roll forward at the same time', async () => {
    const { attempt } = await openAttempt();
    await using other = await h.startReplica();
    await h.stopWallet();
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('failure');
    await h.startWallet();
    h.clock.advance(2_000);
    await Promise.all([h.server.sweepOnce(), other.server.sweepOnce(), read(attempt.id)]);
    expect(await h.eventsOf(attempt.id)).toHaveLength(1);
  });

  it('attempt.settled is emitted by the sweeper if the process ended before it recorded the payout', async () => {
    const opened = await openAttempt();
    const { attempt } = opened;
    arm('challenge.award.before-commit', 'throw');
    const outcome = recorded(await h.report(attempt.id, 100));
    expect(outcome.award?.status).toBe(AwardStatus.PAID);
    const status = { text: 'select status from awards where attempt_id = $1' };
    await vi.waitFor(() => expect(isArmed('challenge.award.before-commit')).toBe(false), 10_000);
    expect(await h.database.query(status, [attempt.id])).toEqual([{ status: 'paying' }]);
    expect(await h.eventsOf(attempt.id)).toEqual([]);
    await written();
    expect(await h.database.query(status, [attempt.id])).toEqual([{ status: 'paid' }]);
    expect(await h.eventsOf(attempt.id)).toEqual([paidWin(opened, outcome)]);
  });

  it('attempt.settled does not delay the response to a win', async () => {
    const { attempt } = await openAttempt();
    {
      await using other = await h.startReplica();
      arm('challenge.award.before-commit', 'delay:1000');
      const report = {
        operationId: newId(),
        attemptId: attempt.id,
        tenant: PROGRAM,
        score: 100,
        evidenceJson: '',
        requestId: '',
        keyUse: undefined,
      };
      recorded(expectAccepted(await other.challenge.reportOutcomes({ reports: [report] })).results[0]?.result);
      expect(await h.eventsOf(attempt.id)).toEqual([]);
    }
    expect(await h.eventsOf(attempt.id)).toHaveLength(1);
  });

  it('no attempt.settled is emitted if the commit of the outcome is rolled back', async () => {
    const { attempt } = await h.openAttempt();
    const operationId = newId();
    arm('challenge.outcome.before-commit', 'throw');
    expect(verdictOf(await h.report(attempt.id, 1, operationId))).toBe('failure');
    expect(await h.eventsOf(attempt.id)).toEqual([]);
    recorded(await h.report(attempt.id, 1, operationId));
    expect(await h.eventsOf(attempt.id)).toHaveLength(1);
  });

  it('attempt.settled is emitted even if the process ended right after the commit', async () => {
    const { attempt } = await h.openAttempt();
    arm('challenge.outcome.after-commit', 'throw');
    expect(verdictOf(await h.report(attempt.id, 1))).toBe('failure');
    expect(await h.eventsOf(attempt.id)).toHaveLength(1);
  });
});

describe('attempt.refunded', () => {
  const refunded = (
    { id, contestId: challengeId, playerRef }: { id: string; contestId: string; playerRef: string },
    reason: RefundReason,
  ): Event => ({
    id: eventIdOf('attempt.refunded', id),
    occurredAt: h.clock(),
    ...FROM,
    payload: {
      $case: 'attemptRefunded',
      value: { attemptId: id, challengeId, tournamentRoundId: '', playerRef, amountCents: 100n, reason },
    },
  });

  it('attempt.refunded is emitted for every fee that the sweep returns', async () => {
    const paid = await h.open();
    const free = await h.open({}, { status: ChallengeStatus.CALIBRATING, threshold: undefined });
    const player = await h.player();
    const attempts = await Promise.all(
      Array.from({ length: 5 }, async () => created(await h.create(paid.id, player.ref))),
    );
    const unpaid = created(await h.create(free.id, player.ref));
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    for (const attempt of attempts) {
      expect(await h.eventsOf(attempt.id)).toEqual([refunded(attempt, RefundReason.EXPIRED)]);
    }
    expect(expectAccepted(await read(unpaid.id)).attempt?.status).toBe(AttemptStatus.EXPIRED);
    await h.server.sweepOnce();
    expect(await h.eventsOf(unpaid.id)).toEqual([]);
    expect(await h.eventsOf(attempts[0]?.id ?? '')).toHaveLength(1);
  });

  it('attempt.refunded is emitted exactly once, even if concurrent reads on two replicas refund the fee', async () => {
    const { attempt } = await h.openAttempt();
    await using other = await h.startReplica();
    h.clock.advance(HOUR_MS);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? read(attempt.id) : other.challenge.getAttempt({ tenant: PROGRAM, attemptId: attempt.id }),
      ),
    );
    await h.server.sweepOnce();
    expect(await h.eventsOf(attempt.id)).toEqual([refunded(attempt, RefundReason.EXPIRED)]);
  });

  it('attempt.refunded is emitted for a sandbox attempt that is expired manually', async () => {
    const { attempt } = await h.openAttempt();
    expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id }));
    expect(await h.eventsOf(attempt.id)).toEqual([refunded(attempt, RefundReason.EXPIRED)]);
    expectAccepted(await read(attempt.id));
    expect(await h.eventsOf(attempt.id)).toHaveLength(1);
  });

  it('attempt.refunded is emitted for a voided attempt with the reason voided', async () => {
    const { attempt } = await h.openAttempt();
    expectAccepted(await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'a broken game' }));
    expect(await h.eventsOf(attempt.id)).toEqual([refunded(attempt, RefundReason.VOIDED)]);
  });

  it.each<[string, (id: string) => ReturnType<typeof read>]>([
    ['is voided', (id: string) => h.challenge.voidAttempt({ attemptId: id, reason: 'a broken game' })],
    ['is expired by hand', (id: string) => h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: id })],
    [
      'expires as it is read',
      (id: string) => {
        h.clock.advance(HOUR_MS);
        return read(id);
      },
    ],
  ])('attempt.refunded is not emitted for a free attempt that %s', async (_, end) => {
    const challenge = await h.open({}, { status: ChallengeStatus.CALIBRATING, threshold: undefined });
    const attempt = created(await h.create(challenge.id, 'unlinked'));
    const ended = expectAccepted(await end(attempt.id)).attempt;
    expect([AttemptStatus.EXPIRED, AttemptStatus.VOIDED]).toContain(ended?.status);
    await h.server.sweepOnce();
    expect(await h.eventsOf(attempt.id)).toEqual([]);
    const due = { text: 'select attempt_id from refunds_due where attempt_id = $1' };
    expect(await h.database.query(due, [attempt.id])).toEqual([]);
  });

  it('attempt.refunded is not emitted before the fee is returned', async () => {
    const { attempt } = await h.openAttempt();
    await h.stopWallet();
    await expect(h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'x' })).rejects.toThrow();
    expect(await h.eventsOf(attempt.id)).toEqual([]);
    await h.startWallet();
    await h.server.sweepOnce();
    expect(await h.eventsOf(attempt.id)).toEqual([refunded(attempt, RefundReason.VOIDED)]);
  });

  it('no attempt.refunded is emitted if the commit that records the refund is rolled back', async () => {
    const { attempt, player } = await h.openAttempt();
    h.clock.advance(HOUR_MS);
    arm('challenge.refund.before-commit', 'throw');
    await expect(read(attempt.id)).rejects.toThrow();
    expect(await h.eventsOf(attempt.id)).toEqual([]);
    expect(await h.balance(player.accountId)).toBe(100_000n);
    await h.server.sweepOnce();
    expect(await h.eventsOf(attempt.id)).toEqual([refunded(attempt, RefundReason.EXPIRED)]);
  });
});

describe('award.released', () => {
  const casesOf = async (attemptId: string) =>
    (await h.eventsOf(attemptId)).map(({ payload }) => payload?.$case).toSorted();

  it('award.released is emitted once for a held award, however often it is released', async () => {
    const { attempt, challenge, ref, awardId } = await heldAward();
    expect(await casesOf(attempt.id)).toEqual(['attemptSettled']);
    expect(await h.challenge.releaseAward({ awardId })).toEqual({});
    expect(await h.challenge.releaseAward({ awardId })).toEqual({});
    await written();
    const paidAt = expectAccepted(await read(attempt.id)).attempt?.outcome?.award?.paidAt;
    expect(await casesOf(attempt.id)).toEqual(['attemptSettled', 'awardReleased']);
    expect(await h.eventsOf(attempt.id)).toContainEqual({
      id: eventIdOf('award.released', awardId),
      occurredAt: paidAt,
      ...FROM,
      payload: {
        $case: 'awardReleased',
        value: {
          awardId,
          attemptId: attempt.id,
          challengeId: challenge.id,
          tournamentRoundId: '',
          playerRef: ref,
          amountCents: 2_000n,
        },
      },
    });
  });

  it('award.released is not emitted for an award that is denied', async () => {
    const { attempt, awardId } = await heldAward();
    expect(await h.challenge.denyAward({ awardId })).toEqual({});
    expect(await h.challenge.denyAward({ awardId })).toEqual({});
    await written();
    expect(await casesOf(attempt.id)).toEqual(['attemptSettled']);
  });

  it('award.released is emitted once the sweeper has completed an interrupted release', async () => {
    const { attempt, awardId } = await heldAward();
    arm('challenge.award.before-commit', 'throw');
    expect(await h.challenge.releaseAward({ awardId })).toEqual({});
    expect(await casesOf(attempt.id)).toEqual(['attemptSettled']);
    await written();
    expect(await casesOf(attempt.id)).toEqual(['attemptSettled', 'awardReleased']);
  });
});

describe('challenge.suspended', () => {
  const put = async (challengeId: string, status: ChallengeStatus) =>
    expectAccepted(await h.challenge.updateChallengeStatus({ challengeId, status }));

  it('challenge.suspended is emitted at each suspension of a challenge', async () => {
    const challenge = await h.open({ name: 'Longest run' });
    await put(challenge.id, ChallengeStatus.SUSPENDED);
    await put(challenge.id, ChallengeStatus.SUSPENDED);
    const suspended = {
      id: expect.any(String),
      occurredAt: h.clock(),
      ...FROM,
      payload: { $case: 'challengeSuspended', value: { challengeId: challenge.id, name: 'Longest run' } },
    };
    expect(await h.eventsOf(challenge.id)).toEqual([suspended]);
    await put(challenge.id, ChallengeStatus.LIVE);
    expect(await h.eventsOf(challenge.id)).toEqual([suspended]);
    await put(challenge.id, ChallengeStatus.SUSPENDED);
    await put(challenge.id, ChallengeStatus.CLOSED);
    const events = await h.eventsOf(challenge.id);
    expect(events).toEqual([suspended, suspended]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });

  it('challenge.suspended is emitted once for concurrent suspensions', async () => {
    const challenge = await h.open();
    await Promise.all(Array.from({ length: 10 }, () => put(challenge.id, ChallengeStatus.SUSPENDED)));
    expect(await h.eventsOf(challenge.id)).toHaveLength(1);
  });

  it('challenge.suspended is not emitted for a closed challenge, nor when the suspension is refused', async () => {
    const challenge = await h.open();
    await put(challenge.id, ChallengeStatus.CLOSED);
    const change = { challengeId: challenge.id, status: ChallengeStatus.SUSPENDED };
    expect(await h.challenge.updateChallengeStatus(change)).toMatchObject({ code: 'conflict' });
    expect(await h.eventsOf(challenge.id)).toEqual([]);
  });

  it('challenge.suspended has the environment of the challenge', async () => {
    const { id, terms } = await h.open();
    const live = { ...PROGRAM, environment: Environment.LIVE };
    const request = { tenant: live, terms, status: ChallengeStatus.LIVE, threshold: 100 };
    const opened = expectAccepted(await h.challenge.createChallenge(request)).challenge;
    expect(opened?.id).not.toBe(id);
    await put(opened?.id ?? '', ChallengeStatus.SUSPENDED);
    expect((await h.eventsOf(opened?.id ?? '')).map(({ tenant }) => tenant)).toEqual([live]);
  });
});
