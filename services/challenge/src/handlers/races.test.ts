/** Concurrent calls: no cap is exceeded, no prize is won twice, no fee is refunded twice. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { countsOf, expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, PROGRAM, recorded, useHarness, useReplica, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();
const other = useReplica(h);

/** Sends the items in calls of ten, to two replicas in turn, all concurrently. */
async function createEverywhere(creations: readonly { contestId: string; playerRef: string }[]) {
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
  return answers.flatMap((answer) => expectAccepted(answer).results.map(({ result }) => result));
}

/** Creates one more ref of the player's account. */
async function secondRefOf({ email }: { readonly email: string }): Promise<string> {
  const playerRef = `second-${newId()}`;
  expectAccepted(await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef }, email }));
  return playerRef;
}

describe('400 concurrent calls', () => {
  it.each([
    [40, 1],
    [400, 1],
    [40, 2],
    [400, 2],
  ])('%i concurrent creations through %i refs of one account never exceed the daily cap', async (count, refs) => {
    const challenge = await h.open({ dailyAttemptCap: 7 });
    const player = await h.player();
    const playerRefs = [player.ref, await secondRefOf(player)].slice(0, refs);
    const creations = Array.from({ length: count }, (_, index) => ({
      contestId: challenge.id,
      playerRef: playerRefs[index % refs] ?? '',
    }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 7, attempt_cap_reached: count - 7 });
    expect(await h.balance(player.accountId)).toBe(100_000n - 700n);
  });

  it.each([40, 400])('%i concurrent creations never overdraw a wallet', async (count) => {
    const challenge = await h.open({ dailyAttemptCap: 1_000, feeCents: 150n });
    const player = await h.player(undefined, 762n);
    const creations = Array.from({ length: count }, () => ({ contestId: challenge.id, playerRef: player.ref }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 5, insufficient_funds: count - 5 });
    expect(await h.balance(player.accountId)).toBe(12n);
  });

  it('400 concurrent reports through two refs of one account never win a second prize', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1_000, targetPassRate: 0.9 });
    const player = await h.player();
    const secondRef = await secondRefOf(player);
    const creations = Array.from({ length: 400 }, (_, index) => ({
      contestId: challenge.id,
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
    const outcomes = answers.flatMap((answer) => expectAccepted(answer).results.map(({ result }) => recorded(result)));
    expect(outcomes.filter((outcome) => outcome.metThreshold)).toHaveLength(400);
    expect(outcomes.filter((outcome) => outcome.award !== undefined)).toHaveLength(1);
    expect(await h.balance(player.accountId)).toBe(100_000n - 40_000n + 2_000n);
    expect(verdictOf(await h.create(challenge.id, secondRef))).toBe('challenge_already_claimed');
  });

  it('400 concurrent creations over two replicas never deadlock', async () => {
    const challenges = await Promise.all(Array.from({ length: 5 }, () => h.open({ dailyAttemptCap: 1_000 })));
    const players = await Promise.all(Array.from({ length: 8 }, () => h.player()));
    const creations = Array.from({ length: 400 }, (_, index) => ({
      contestId: challenges[(index * 3) % 5]?.id ?? '',
      playerRef: players[(index * 5) % 8]?.ref ?? '',
    }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 400 });
  });
});

it('a creation that races with a win of its player is either charged or refused as claimed', async () => {
  const challenge = await h.open({ dailyAttemptCap: 1_000 });
  const player = await h.player();
  const first = created(await h.create(challenge.id, player.ref));
  const [won, ...verdicts] = await Promise.all([
    h.report(first.id, 100),
    ...Array.from({ length: 40 }, async (_, index) => {
      const creation = { contestId: challenge.id, playerRef: player.ref, tenant: PROGRAM, metadataJson: '' };
      const item = { ...creation, attemptId: newOwnedId('challenge'), requestId: '', keyUse: undefined };
      const { challenge: replica } = index % 2 === 0 ? h : other;
      return verdictOf(expectAccepted(await replica.createAttempts({ creations: [item] })).results[0]?.result);
    }),
  ]);
  expect(recorded(won).award).toBeDefined();
  const { attempt: charged = 0, challenge_already_claimed: refused = 0 } = countsOf(verdicts);
  expect(charged + refused).toBe(40);
  expect(await h.balance(player.accountId)).toBe(100_000n - 100n + 2_000n - BigInt(charged) * 100n);
});

describe('an attempt at its deadline', () => {
  it.each([
    ['expired', 1],
    ['expired', 100],
    ['voided', 1],
  ])(
    'an attempt that is reported and ended concurrently is either settled or %s and refunded (score %i)',
    async (end, score) => {
      const challenge = await h.open({ dailyAttemptCap: 1_000 });
      const player = await h.player();
      const creations = Array.from({ length: 40 }, () => ({ contestId: challenge.id, playerRef: player.ref }));
      const attempts = (await createEverywhere(creations)).map(created);

      const raced = await Promise.all(
        attempts.map(async ({ id }, index) => {
          const { challenge: replica } = index % 2 === 0 ? h : other;
          const [report, ended] = await Promise.all([
            h.report(id, score),
            end === 'expired'
              ? replica.expireAttempt({ tenant: PROGRAM, attemptId: id })
              : replica.voidAttempt({ attemptId: id, reason: 'a race' }),
          ]);
          return { id, report: verdictOf(report), ended: 'kind' in ended ? ended.code : end };
        }),
      );
      let refunded = 0n;
      for (const { id, report, ended } of raced) {
        const { attempt } = expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: id }));
        const isSettled = attempt?.status === AttemptStatus.SETTLED;
        if (!isSettled) refunded += 1n;
        const tooLate = end === 'expired' ? 'attempt_already_settled' : 'conflict';
        expect({ report, ended }).toEqual(
          isSettled ? { report: 'outcome', ended: tooLate } : { report: 'attempt_already_settled', ended: end },
        );
        if (!isSettled) expect(attempt?.status).toBe(end === 'expired' ? AttemptStatus.EXPIRED : AttemptStatus.VOIDED);
      }
      const prize = score === 100 && refunded < 40n ? 2_000n : 0n;
      expect(await h.balance(player.accountId)).toBe(100_000n - 4_000n + refunded * 100n + prize);
    },
  );

  it('an attempt at its deadline is refunded once, even if two replicas sweep at the same time', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1_000 });
    const player = await h.player();
    const creations = Array.from({ length: 60 }, () => ({ contestId: challenge.id, playerRef: player.ref }));
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

  it('an attempt past its deadline refuses an outcome before any sweep', async () => {
    const { challenge, player, attempt: late } = await h.openAttempt();
    const read = created(await h.create(challenge.id, player.ref));
    const justInTime = created(await h.create(challenge.id, player.ref));
    h.clock.advance(HOUR_MS - 1);
    recorded(await h.report(justInTime.id, 1));
    h.clock.advance(1);
    expect(verdictOf(await h.report(late.id, 100))).toBe('attempt_already_settled');
    const { attempt } = expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: read.id }));
    expect(attempt).toEqual({ ...read, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(100_000n - 200n);
    await h.server.sweepOnce();
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n);
  });
});
