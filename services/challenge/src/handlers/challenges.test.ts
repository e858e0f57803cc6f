/**
 * The challenges that operators open and that players are offered: statuses, ladders, calibration,
 * top_n, and the list.
 */

import {
  CalibrationSource,
  type Challenge,
  ChallengeStatus,
  PrizeStructure,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, OTHER_PROGRAM, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();

async function reread(challenge: Challenge): Promise<Challenge | undefined> {
  return expectAccepted(await h.challenge.getChallenge({ challengeId: challenge.id })).challenge;
}

async function listed(playerRef: string, all = false): Promise<readonly string[]> {
  const { challenges } = expectAccepted(await h.challenge.listChallenges({ tenant: PROGRAM, playerRef, all }));
  return challenges.map((challenge) => challenge.id);
}

describe('a challenge that an operator opens', () => {
  it('a challenge that an operator opens reads back with the terms that were set', async () => {
    const opened = await h.open({ description: 'A description', jurisdictions: ['US-CA'], scoreMin: -1.5 });
    expect(await reread(opened)).toEqual(opened);
    expect(opened).toMatchObject({
      tenant: PROGRAM,
      status: ChallengeStatus.LIVE,
      threshold: 100,
      calibrationSource: CalibrationSource.OBSERVED,
      rung: 1,
      offeredFeeCents: 100n,
      offeredPrizeCents: 2_000n,
      calibration: undefined,
      createdAt: h.clock(),
      terms: { description: 'A description', jurisdictions: ['US-CA'], scoreMin: -1.5, scoreMax: undefined },
    });
    expect(await h.challenge.getChallenge({ challengeId: newId() })).toMatchObject({ code: 'not_found' });
  });

  it('a challenge that an operator opens has the documented defaults for omitted terms', async () => {
    const opened = await h.open({ minCalibrationN: 0, minCalibrationPlayers: 0, dailyAttemptCap: 0 });
    expect(opened.terms).toMatchObject({ minCalibrationN: 200, minCalibrationPlayers: 20, dailyAttemptCap: 10 });
  });

  it('a challenge that an operator opens is refused for invalid terms', async () => {
    const parent = await h.open();
    const { challenge: foreign } = expectAccepted(
      await h.challenge.createChallenge({
        tenant: OTHER_PROGRAM,
        terms: parent.terms,
        status: ChallengeStatus.LIVE,
        threshold: 1,
      }),
    );
    const bad: readonly Partial<NonNullable<Challenge['terms']>>[] = [
      { name: '' },
      { name: 'x'.repeat(256) },
      { feeCents: 0n },
      { prizeCents: 0n },
      { targetPassRate: 0 },
      { targetPassRate: 1 },
      { targetPassRate: Number.NaN },
      { integrityTier: 4 },
      { scoreMin: 2, scoreMax: 1 },
      { scoreMin: Number.NEGATIVE_INFINITY },
      { topN: 3 },
      { requiredVerificationLevel: 4 },
      { dailyAttemptCap: -1 },
      { parentChallengeId: newId() },
      { parentChallengeId: 'x' },
      { parentChallengeId: foreign?.id ?? '' },
      { parentChallengeId: parent.id, thresholdDirection: ThresholdDirection.LOWER_IS_BETTER },
    ];
    for (const terms of bad)
      await expect(h.open(terms), JSON.stringify(terms, text)).rejects.toThrow('invalid_request');
    await expect(h.open({}, { threshold: undefined })).rejects.toThrow('invalid_request');
    await expect(h.open({}, { threshold: Number.NaN })).rejects.toThrow('invalid_request');
    await expect(h.open({}, { status: ChallengeStatus.CALIBRATING, threshold: 1 })).rejects.toThrow('invalid_request');
    const topN = { prizeStructure: PrizeStructure.TOP_N };
    await expect(h.open(topN)).rejects.toThrow('invalid_request');
    await expect(h.open({ ...topN, topN: 0 })).rejects.toThrow('invalid_request');
    await expect(h.open({ ...topN, topN: 1 }, { threshold: 1 })).rejects.toThrow('invalid_request');
  });

  it('a closed challenge cannot be reinstated', async () => {
    const opened = await h.open();
    const set = (status: ChallengeStatus) => h.challenge.updateChallengeStatus({ challengeId: opened.id, status });
    expect(expectAccepted(await set(ChallengeStatus.SUSPENDED)).challenge?.status).toBe(ChallengeStatus.SUSPENDED);
    expect(expectAccepted(await set(ChallengeStatus.LIVE)).challenge).toEqual(opened);
    expect(await set(ChallengeStatus.CALIBRATING)).toMatchObject({ code: 'conflict' });
    expect(expectAccepted(await set(ChallengeStatus.CLOSED)).challenge?.status).toBe(ChallengeStatus.CLOSED);
    expect(expectAccepted(await set(ChallengeStatus.CLOSED)).challenge?.status).toBe(ChallengeStatus.CLOSED);
    expect(await set(ChallengeStatus.LIVE)).toMatchObject({ code: 'conflict' });
    expect(
      await h.challenge.updateChallengeStatus({ challengeId: newId(), status: ChallengeStatus.LIVE }),
    ).toMatchObject({
      code: 'not_found',
    });
  });

  it('a reinstated challenge without a bar calibrates again', async () => {
    const opened = await h.open({}, { status: ChallengeStatus.CALIBRATING });
    const set = (status: ChallengeStatus) => h.challenge.updateChallengeStatus({ challengeId: opened.id, status });
    expect(await set(ChallengeStatus.LIVE)).toMatchObject({ code: 'conflict' });
    expectAccepted(await set(ChallengeStatus.SUSPENDED));
    expect(expectAccepted(await set(ChallengeStatus.LIVE)).challenge).toEqual(opened);
  });

  it('the database refuses to change the terms of a challenge or to delete a challenge', async () => {
    const opened = await h.open();
    const change = { text: 'update challenges set prize_cents = 1 where id = $1' };
    await expect(h.database.query(change, [opened.id])).rejects.toThrow('never change');
    await expect(h.database.query({ text: 'delete from challenges where id = $1' }, [opened.id])).rejects.toThrow(
      'never deleted',
    );
  });
});

describe('a calibrating challenge', () => {
  it('an attempt on a calibrating challenge is free and wins nothing', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1 }, { status: ChallengeStatus.CALIBRATING });
    expect(challenge).toMatchObject({ offeredFeeCents: 0n, offeredPrizeCents: 2_000n, threshold: undefined });
    const player = await h.player(undefined, 0n);
    const secondRef = `second-${newId()}`;
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: secondRef }, email: player.email }),
    );

    for (const ref of [player.ref, player.ref, secondRef, 'unlinked-1', 'unlinked-2', 'unlinked-2']) {
      const attempt = created(await h.create(challenge.id, ref));
      expect(attempt.feeCents).toBe(0n);
      const outcome = recorded(await h.report(attempt.id, 1e6));
      expect(outcome).toMatchObject({ metThreshold: false, thresholdApplied: undefined, award: undefined });
    }
    expect((await reread(challenge))?.calibration).toEqual({
      collected: 6,
      required: 200,
      playersCollected: 3,
      playersRequired: 20,
    });
    const unscored = created(await h.create(challenge.id, 'unlinked-3'));
    expectAccepted(await h.challenge.voidAttempt({ attemptId: unscored.id, reason: 'free ones too' }));
    expect(await h.balance(player.accountId)).toBe(0n);
    expect(await listed(player.ref)).not.toContain(challenge.id);
    expect(await listed(player.ref, true)).toContain(challenge.id);
  });
});

describe('a top_n challenge', () => {
  it.each([
    [ThresholdDirection.HIGHER_IS_BETTER, [10, 30, 20], 20, 25, 19],
    [ThresholdDirection.LOWER_IS_BETTER, [30, 10, 20], 20, 15, 21],
  ] as const)(
    'a top_n challenge has the n-th best score so far as its bar, frozen at creation (direction %i)',
    async (thresholdDirection, first, bar, better, worse) => {
      const challenge = await h.open({ prizeStructure: PrizeStructure.TOP_N, topN: 2, thresholdDirection });
      expect(challenge).toMatchObject({
        status: ChallengeStatus.CALIBRATING,
        calibration: { collected: 0, required: 2, playersCollected: 0, playersRequired: 1 },
      });
      const player = await h.player();
      const frees = [
        created(await h.create(challenge.id, player.ref)),
        created(await h.create(challenge.id, player.ref)),
        created(await h.create(challenge.id, player.ref)),
      ];
      for (const [index, free] of frees.entries()) {
        expect(recorded(await h.report(free.id, first[index] ?? 0)).metThreshold).toBe(false);
      }
      expect(await reread(challenge)).toMatchObject({
        status: ChallengeStatus.LIVE,
        threshold: bar,
        offeredFeeCents: 100n,
      });

      const loser = created(await h.create(challenge.id, player.ref));
      const winner = created(await h.create(challenge.id, player.ref));
      const frozen = created(await h.create(challenge.id, player.ref));
      expect(recorded(await h.report(loser.id, worse))).toMatchObject({ metThreshold: false, thresholdApplied: bar });
      expect(recorded(await h.report(winner.id, better)).award?.amountCents).toBe(2_000n);
      expect((await reread(challenge))?.threshold).toBe(better);
      expect(recorded(await h.report(frozen.id, bar))).toMatchObject({
        metThreshold: true,
        thresholdApplied: bar,
        award: undefined,
      });
    },
  );
});

describe('the list of challenges', () => {
  it('the list of challenges has exactly the challenges that a creation would accept, ignoring funds', async () => {
    const { tenant } = { tenant: { ...PROGRAM, programId: newId() } };
    const open = async (terms: object, status: ChallengeStatus = ChallengeStatus.LIVE) => {
      // The list is oldest first.
      h.clock.advance(1);
      const threshold = status === ChallengeStatus.LIVE ? 100 : undefined;
      const base = await h.open();
      const request = {
        tenant,
        terms: { ...(base.terms as NonNullable<Challenge['terms']>), ...terms },
        status,
        threshold,
      };
      return expectAccepted(await h.challenge.createChallenge(request)).challenge as Challenge;
    };
    const plain = await open({});
    const claimed = await open({});
    const capped = await open({ dailyAttemptCap: 1 });
    const unlocked = await open({ parentChallengeId: claimed.id });
    const locked = await open({ parentChallengeId: plain.id });
    const verified = await open({ requiredVerificationLevel: 2 });
    const aboveCeiling = await open({ prizeCents: 2_501n });
    const suspended = await open({});
    expectAccepted(
      await h.challenge.updateChallengeStatus({ challengeId: suspended.id, status: ChallengeStatus.SUSPENDED }),
    );
    const calibrating = await open({}, ChallengeStatus.CALIBRATING);

    const player = await h.player(undefined, undefined, tenant);
    const create = (challenge: Challenge) => h.create(challenge.id, player.ref, undefined, tenant);
    const win = created(await create(claimed));
    const report = {
      operationId: newId(),
      attemptId: win.id,
      tenant,
      score: 100,
      evidenceJson: '',
      requestId: '',
      keyUse: undefined,
    };
    recorded(expectAccepted(await h.challenge.reportOutcomes({ reports: [report] })).results[0]?.result);
    created(await create(capped));

    const list = async (playerRef: string, all = false) =>
      expectAccepted(await h.challenge.listChallenges({ tenant, playerRef, all })).challenges.map(
        (challenge) => challenge.id,
      );
    const offered = await list(player.ref);
    expect(offered).toEqual([plain.id, unlocked.id]);
    const every = [plain, claimed, capped, unlocked, locked, verified, aboveCeiling, suspended, calibrating];
    expect(await list(player.ref, true)).toEqual(every.map((challenge) => challenge.id));

    const live = every.filter((challenge) => challenge !== calibrating);
    for (const challenge of live) {
      expect(verdictOf(await create(challenge)) === 'attempt', challenge.id).toBe(offered.includes(challenge.id));
    }
    // This player has no account, so only missing funds could refuse a creation.
    expect(await list('unlinked')).toEqual([plain.id, claimed.id, capped.id, verified.id]);
    const otherProgram = { programId: newId(), environment: PROGRAM.environment };
    expect(await h.challenge.listChallenges({ tenant: otherProgram, playerRef: 'unlinked', all: true })).toEqual({
      challenges: [],
    });
  });

  it('the list of challenges is empty for a player who is blocked', async () => {
    const player = await h.player();
    await h.open();
    expect(await listed(player.ref)).not.toEqual([]);
    expectAccepted(
      await h.wallet.updateAccount({
        accountId: player.accountId,
        selfExcludedUntil: undefined,
        clearSelfExclusion: false,
        enforcementFlag: undefined,
        underInvestigation: undefined,
        blocked: true,
        jurisdiction: undefined,
        verificationLevel: undefined,
      }),
    );
    expect(await listed(player.ref)).toEqual([]);
  });
});

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
