/** Concurrent calls: no cap is exceeded, no prize won twice, no fee returned twice. */
import { newId, newOwnedId } from '@laurel/ids';
import { AttemptStatus } from '@laurel/proto/challenge';
import { countsOf, ok } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, PROGRAM, recorded, useHarness, useReplica, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();
const other = useReplica(h);

/** The items in calls of ten, to two replicas in turn, all concurrently. */
async function createEverywhere(creations: readonly { challengeId: string; playerRef: string }[]) {
  const items = creations.map((creation) => ({
    ...creation,
    attemptId: newOwnedId('challenge'),
    tenant: PROGRAM,
    metadataJson: '{}',
    requestId: '',
    keyUse: undefined,
  }));
  const calls = Array.from({ length: Math.ceil(items.length / 10) }, (_, index) =>
    items.slice(index * 10, index * 10 + 10),
  );
  const answers = await Promise.all(
    calls.map((call, index) => (index % 2 === 0 ? h : other).challenge.createAttempts({ creations: call })),
  );
  return answers.flatMap((answer) => ok(answer).results.map(({ result }) => result));
}

describe('400 concurrent calls', () => {
  it('400 concurrent creations never exceed the daily cap', async () => {
    const challenge = await h.open({ dailyAttemptCap: 7 });
    const player = await h.player();
    const creations = Array.from({ length: 400 }, () => ({ challengeId: challenge.id, playerRef: player.ref }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 7, attempt_cap_reached: 393 });
    expect(await h.balance(player.accountId)).toBe(100_000n - 700n);
  });

  it('400 concurrent creations never overdraw a wallet', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1_000 });
    const player = await h.player(undefined, 512n);
    const creations = Array.from({ length: 400 }, () => ({ challengeId: challenge.id, playerRef: player.ref }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 5, insufficient_funds: 395 });
    expect(await h.balance(player.accountId)).toBe(12n);
  });

  it('400 concurrent reports never win a second prize, through two refs of one account', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1_000, targetPassRate: 0.9 });
    const player = await h.player();
    const secondRef = `second-${newId()}`;
    ok(await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: secondRef }, email: player.email }));
    const creations = Array.from({ length: 400 }, (_, index) => ({
      challengeId: challenge.id,
      playerRef: index % 3 === 0 ? secondRef : player.ref,
    }));
    const attempts = (await createEverywhere(creations)).map(created);

    const reports = attempts.map((attempt) => ({
      operationId: newId(),
      attemptId: attempt.id,
      tenant: PROGRAM,
      score: 100,
      evidenceJson: '',
      requestId: '',
      keyUse: undefined,
    }));
    const calls = Array.from({ length: 40 }, (_, index) => reports.slice(index * 10, index * 10 + 10));
    const answers = await Promise.all(
      calls.map((call, index) => (index % 2 === 0 ? h : other).challenge.reportOutcomes({ reports: call })),
    );
    const outcomes = answers.flatMap((answer) => ok(answer).results.map(({ result }) => recorded(result)));
    expect(outcomes.filter((outcome) => outcome.metThreshold)).toHaveLength(400);
    expect(outcomes.filter((outcome) => outcome.award !== undefined)).toHaveLength(1);
    expect(await h.balance(player.accountId)).toBe(100_000n - 40_000n + 2_000n);
    expect(verdictOf(await h.create(challenge.id, secondRef))).toBe('challenge_already_claimed');
  });

  it('400 concurrent creations do not deadlock when the batches of two replicas contain the same players in every order', async () => {
    const challenges = await Promise.all(Array.from({ length: 5 }, () => h.open({ dailyAttemptCap: 1_000 })));
    const players = await Promise.all(Array.from({ length: 8 }, () => h.player()));
    const creations = Array.from({ length: 400 }, (_, index) => ({
      challengeId: challenges[(index * 3) % 5]?.id ?? '',
      playerRef: players[(index * 5) % 8]?.ref ?? '',
    }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 400 });
  });
});

describe('an attempt at its deadline', () => {
  it('an attempt at its deadline is either settled or expired and refunded, when both are requested concurrently', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1_000 });
    const player = await h.player();
    const creations = Array.from({ length: 40 }, () => ({ challengeId: challenge.id, playerRef: player.ref }));
    const attempts = (await createEverywhere(creations)).map(created);

    const raced = await Promise.all(
      attempts.map(async ({ id }, index) => {
        const [report, expiry] = await Promise.all([
          h.report(id, 1),
          (index % 2 === 0 ? h : other).challenge.expireAttempt({ tenant: PROGRAM, attemptId: id }),
        ]);
        return { id, report: verdictOf(report), expiry: 'kind' in expiry ? expiry.code : 'expired' };
      }),
    );
    let expired = 0n;
    for (const { id, report, expiry } of raced) {
      const { attempt } = ok(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: id }));
      const isExpired = attempt?.status === AttemptStatus.EXPIRED;
      if (isExpired) expired += 1n;
      expect({ report, expiry }).toEqual(
        isExpired
          ? { report: 'attempt_already_settled', expiry: 'expired' }
          : { report: 'outcome', expiry: 'attempt_already_settled' },
      );
    }
    expect(await h.balance(player.accountId)).toBe(100_000n - 4_000n + expired * 100n);
  });

  it('an attempt at its deadline is refunded once by replicas that sweep at the same time', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1_000 });
    const player = await h.player();
    const creations = Array.from({ length: 60 }, () => ({ challengeId: challenge.id, playerRef: player.ref }));
    (await createEverywhere(creations)).map(created);
    h.clock.advance(HOUR_MS);
    await Promise.all([h.server.sweepOnce(), other.server.sweepOnce(), h.server.sweepOnce(), other.server.sweepOnce()]);
    await h.server.sweepOnce();
    expect(await h.balance(player.accountId)).toBe(100_000n);
    const statuses = await h.database.query({ text: 'select distinct status from attempts where challenge_id = $1' }, [
      challenge.id,
    ]);
    expect(statuses).toEqual([{ status: 'expired' }]);
  });

  it('an attempt past its deadline refuses an outcome before any sweep, and a read already answers it refunded', async () => {
    const { challenge, player, attempt: late } = await h.openAttempt();
    const read = created(await h.create(challenge.id, player.ref));
    const justInTime = created(await h.create(challenge.id, player.ref));
    h.clock.advance(HOUR_MS - 1);
    recorded(await h.report(justInTime.id, 1));
    h.clock.advance(1);
    expect(verdictOf(await h.report(late.id, 100))).toBe('attempt_already_settled');
    const { attempt } = ok(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: read.id }));
    expect(attempt).toEqual({ ...read, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(100_000n - 200n);
    await h.server.sweepOnce();
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n);
  });
});
