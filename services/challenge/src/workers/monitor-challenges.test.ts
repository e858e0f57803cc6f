/** Drift: what is counted, when a challenge is suspended, and what a suspension leaves. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { ChallengeStatus, PrizeStructure } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, PROGRAM, useHarness, verdictOf } from '../challenge.fixture.ts';
import { FIRST_JUDGED_ATTEMPT, LOG_LIMIT, logRatiosOf } from '../domain/drift-monitor.ts';
import { all, everyNth, openWithoutCap, usePlay } from './monitor.fixture.ts';

const h = useHarness();
const { attempts, settle, play, drift, waiting } = usePlay(h);
let other: Awaited<ReturnType<Harness['startReplica']>>;
beforeAll(async () => {
  other = await h.startReplica();
});
afterAll(() => other[Symbol.asyncDispose]());

const statusOf = async (challengeId: string) =>
  expectAccepted(await h.challenge.getChallenge({ challengeId })).challenge?.status;

describe('a bar that drifts', () => {
  it('the next sweep suspends a challenge whose bar every player clears', async () => {
    const challenge = await openWithoutCap(h);
    await play(challenge.id, all(true, 60));

    const { now, readings, changes, ...rest } = await drift(challenge.id);
    // The monitor rejects at the first attempt that it judges; those after it do not count.
    const attemptsSeen = BigInt(FIRST_JUDGED_ATTEMPT);
    const ratios = logRatiosOf({ attempts: FIRST_JUDGED_ATTEMPT, passes: FIRST_JUDGED_ATTEMPT }, 0.2);
    const evidence = {
      attempts: attemptsSeen,
      passes: attemptsSeen,
      logRatioAbove: ratios.above,
      logRatioBelow: ratios.below,
      readAt: h.clock(),
    };
    expect(rest).toMatchObject({
      challenge: { id: challenge.id, status: ChallengeStatus.SUSPENDED, threshold: 100 },
      claimedHigh: 0.2 * 1.5,
      logLimit: LOG_LIMIT,
      attemptsBeforeJudging: attemptsSeen,
    });
    expect(ratios.above).toBeGreaterThan(LOG_LIMIT);
    expect(now).toEqual(evidence);
    expect(readings).toEqual([evidence]);
    expect(changes).toEqual([
      {
        changedAt: h.clock(),
        from: ChallengeStatus.LIVE,
        to: ChallengeStatus.SUSPENDED,
        cause: 'drift',
        note: '',
        evidence,
      },
    ]);
    expect((await h.eventsOf(challenge.id)).map(({ payload }) => payload)).toEqual([
      { $case: 'challengeSuspended', value: { challengeId: challenge.id, name: 'Longest run' } },
    ]);
    expect(await waiting(challenge.id)).toBe(0);
  });

  it('a challenge whose bar almost no player clears is suspended', async () => {
    const challenge = await openWithoutCap(h);
    await play(challenge.id, all(false, 100));
    const { now, changes } = await drift(challenge.id);
    expect(changes).toMatchObject([{ cause: 'drift', to: ChallengeStatus.SUSPENDED }]);
    expect(now?.logRatioBelow).toBeGreaterThan(LOG_LIMIT);
    expect(now?.passes).toBe(0n);
  });

  it('the outcomes of fewer than 50 attempts never suspend a challenge', async () => {
    const challenge = await openWithoutCap(h);
    await play(challenge.id, all(true, FIRST_JUDGED_ATTEMPT - 1));
    expect(await drift(challenge.id)).toMatchObject({
      challenge: { status: ChallengeStatus.LIVE },
      now: { attempts: 49n, passes: 49n },
      readings: [],
      changes: [],
    });
    await play(challenge.id, [true]);
    expect(await statusOf(challenge.id)).toBe(ChallengeStatus.SUSPENDED);
  });

  it('a challenge whose pass rate stays within the claimed band stays live', async () => {
    const challenge = await openWithoutCap(h);
    for (let wave = 0; wave < 6; wave += 1) await play(challenge.id, everyNth(50, 5));
    const { now, readings, changes } = await drift(challenge.id);
    expect(await statusOf(challenge.id)).toBe(ChallengeStatus.LIVE);
    expect(now).toMatchObject({ attempts: 300n, passes: 60n });
    expect(readings.map((reading) => reading.attempts)).toEqual([50n, 100n, 150n, 200n, 250n, 300n]);
    expect(changes).toEqual([]);
  });

  it('an attempt that was open at the suspension still settles, but is not counted', async () => {
    const challenge = await openWithoutCap(h);
    const open = await attempts(challenge.id, 1);
    await play(challenge.id, all(true, 60));
    const before = await drift(challenge.id);
    expect(before.challenge?.status).toBe(ChallengeStatus.SUSPENDED);

    await settle(open, [true]);
    await h.server.sweepOnce();
    const [attemptId = ''] = open;
    const { attempt } = expectAccepted(await h.challenge.getAttempt({ attemptId, tenant: PROGRAM }));
    expect(attempt).toMatchObject({
      status: AttemptStatus.SETTLED,
      outcome: { metThreshold: true, thresholdApplied: 100, award: { amountCents: 2_000n } },
    });
    expect(await drift(challenge.id)).toEqual(before);
    expect(await waiting(challenge.id)).toBe(0);
  });

  it('a creation on a cached challenge is refused after the suspension', async () => {
    const challenge = await openWithoutCap(h);
    const player = await h.player();
    const creation = () => ({
      attemptId: newOwnedId('challenge'),
      tenant: PROGRAM,
      contestId: challenge.id,
      playerRef: player.ref,
      metadataJson: '{}',
      requestId: '',
      keyUse: undefined,
    });
    const create = async () => {
      const { results } = expectAccepted(await other.challenge.createAttempts({ creations: [creation()] }));
      return verdictOf(results[0]?.result);
    };
    expect([await create(), await create()]).toEqual(['attempt', 'attempt']);
    await play(challenge.id, all(true, 60));
    expect(await create()).toBe('challenge_not_available');
  });
});

describe('what a drift monitor counts', () => {
  it('free attempts and attempts on a top_n challenge are not counted', async () => {
    const calibrating = await h.open({ dailyAttemptCap: 1_000 }, { status: ChallengeStatus.CALIBRATING });
    await play(calibrating.id, all(true, 60));
    const topN = await openWithoutCap(h, { prizeStructure: PrizeStructure.TOP_N, topN: 1 });
    await play(topN.id, [true]);
    await play(topN.id, all(true, 60));
    for (const { id } of [calibrating, topN]) {
      expect(await drift(id)).toMatchObject({ startedAt: undefined, now: undefined, readings: [], changes: [] });
      expect(await waiting(id)).toBe(0);
    }
  });

  it('two processes count every outcome once', async () => {
    const challenge = await openWithoutCap(h, { targetPassRate: 0.5 });
    const waves = await Promise.all(Array.from({ length: 6 }, () => attempts(challenge.id, 50)));
    let isSettling = true;
    const counting = [h.server, other.server].map(async (server) => {
      while (isSettling) await server.sweepOnce();
    });
    await Promise.all(waves.map((ids) => settle(ids, everyNth(50, 2))));
    isSettling = false;
    await Promise.all(counting);
    await h.server.sweepOnce();
    expect((await drift(challenge.id)).now).toMatchObject({ attempts: 300n, passes: 150n });
    expect(await waiting(challenge.id)).toBe(0);
  });

  it('the monitor skips a challenge that an operator is changing', async () => {
    const [held, free] = [await openWithoutCap(h), await openWithoutCap(h)];
    await h.database.transaction(async (tx) => {
      await tx.query({ text: 'select from drift_monitors where challenge_id = $1 for update' }, [held.id]);
      await play(held.id, everyNth(20, 5));
      await play(free.id, everyNth(20, 5));
      expect((await drift(free.id)).now?.attempts).toBe(20n);
      expect((await drift(held.id)).now?.attempts).toBe(0n);
      expect(await waiting(held.id)).toBe(20);
    });
    await h.server.sweepOnce();
    expect((await drift(held.id)).now).toMatchObject({ attempts: 20n, passes: 4n });
  });

  it('outcomes that are reported again are counted once', async () => {
    const challenge = await openWithoutCap(h);
    const [attemptId = ''] = await attempts(challenge.id, 1);
    const operationId = newId();
    for (let time = 0; time < 3; time += 1) await h.report(attemptId, 100, operationId);
    expect(verdictOf(await h.report(attemptId, 0))).toBe('attempt_already_settled');
    await h.server.sweepOnce();
    expect((await drift(challenge.id)).now).toMatchObject({ attempts: 1n, passes: 1n });
  });

  it('an outcome is counted soon after its report, without a sweep', async () => {
    const challenge = await openWithoutCap(h);
    await settle(await attempts(challenge.id, 3), [true, false, true]);
    await expect.poll(async () => (await drift(challenge.id)).now).toMatchObject({ attempts: 3n, passes: 2n });
  });
});

describe('under load', () => {
  it('no process creates an attempt once the suspension can be read', async () => {
    const challenge = await openWithoutCap(h);
    const players = await Promise.all(Array.from({ length: 8 }, () => h.player(undefined, 1_000_000n)));
    let isSuspended = false;
    const verdicts = { before: [] as string[], after: [] as string[] };
    const creating = players.map(async ({ ref }, index) => {
      const { challenge: client } = index % 2 === 0 ? h : other;
      for (let late = 0; late < 3; ) {
        const moment = isSuspended ? 'after' : 'before';
        if (moment === 'after') late += 1;
        const creation = {
          attemptId: newOwnedId('challenge'),
          tenant: PROGRAM,
          contestId: challenge.id,
          playerRef: ref,
          metadataJson: '{}',
          requestId: '',
          keyUse: undefined,
        };
        const { results } = expectAccepted(await client.createAttempts({ creations: [creation] }));
        verdicts[moment].push(verdictOf(results[0]?.result));
      }
    });
    await settle(await attempts(challenge.id, 60), all(true, 60));
    await expect.poll(() => statusOf(challenge.id)).toBe(ChallengeStatus.SUSPENDED);
    isSuspended = true;
    await Promise.all(creating);
    expect(verdicts.after).toEqual(Array(24).fill('challenge_not_available'));
    expect(verdicts.before).toContain('attempt');
    expect((await drift(challenge.id)).changes).toHaveLength(1);
  });
});
