/**
 * A partner's percentiles set the bar of a challenge: both directions, every refusal, repeats, and
 * concurrent seedings.
 */

import {
  CalibrationSource,
  type Challenge,
  ChallengeStatus,
  PrizeStructure,
  type SeedChallengeRequest,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import type { KeyUse } from '@laurel/proto/common';
import { Environment } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { created, type Harness, OTHER_PROGRAM, PROGRAM, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();
let other: Awaited<ReturnType<Harness['startReplica']>>;
beforeAll(async () => {
  other = await h.startReplica();
});
afterAll(() => other[Symbol.asyncDispose]());

const DISTRIBUTION = { p5: 10, p25: 20, p50: 30, p75: 40, p95: 50 };
const { LOWER_IS_BETTER } = ThresholdDirection;
type Terms = NonNullable<Challenge['terms']>;

const calibrating = (terms: Partial<Terms> = {}) =>
  h.open({ targetPassRate: 0.25, ...terms }, { status: ChallengeStatus.CALIBRATING });

const seedingOf = (challengeId: string, changes: Partial<SeedChallengeRequest> = {}): SeedChallengeRequest => ({
  operationId: newId(),
  tenant: PROGRAM,
  challengeId,
  distribution: DISTRIBUTION,
  sampleSize: 500n,
  keyUse: undefined,
  ...changes,
});

const seed = (challengeId: string, changes: Partial<SeedChallengeRequest> = {}) =>
  h.challenge.seedChallenge(seedingOf(challengeId, changes));

const keyUse = (keyId = newId(), body = 1, isFirst = true): KeyUse => ({
  keyId,
  fingerprint: Buffer.alloc(32, body),
  isFirst,
  usedAt: h.clock(),
});

const read = async (challengeId: string) => expectAccepted(await h.challenge.getChallenge({ challengeId })).challenge;

const codeOf = (answer: Awaited<ReturnType<typeof seed>>) => ('kind' in answer ? answer.code : 'seeded');

/** Returns the rows that the seeding of a challenge has written. */
async function rowsOf(challengeId: string) {
  const rows = (table: string, columns: string) =>
    h.database.query({ text: `select ${columns} from ${table} where challenge_id = $1` }, [challengeId]);
  return {
    seeded: await rows('seeded_distributions', 'p5, p25, p50, p75, p95, sample_size, threshold, seeded_at'),
    monitors: await rows('drift_monitors', 'started_at, attempts, passes'),
    changes: await rows('status_changes', 'changed_at, from_status, to_status, cause, note, attempts'),
  };
}

describe('the seeding of a calibrating challenge', () => {
  it.each([
    [ThresholdDirection.HIGHER_IS_BETTER, 0.25, 40],
    [LOWER_IS_BETTER, 0.25, 20],
    [ThresholdDirection.HIGHER_IS_BETTER, 0.15, 45],
    [LOWER_IS_BETTER, 0.15, 15],
    [ThresholdDirection.HIGHER_IS_BETTER, 0.01, 50],
    [LOWER_IS_BETTER, 0.01, 10],
    [ThresholdDirection.HIGHER_IS_BETTER, 0.5, 30],
    [ThresholdDirection.HIGHER_IS_BETTER, 0.4, 34],
    [ThresholdDirection.HIGHER_IS_BETTER, 0.99, 10],
    [LOWER_IS_BETTER, 0.2, 17.5],
    [LOWER_IS_BETTER, 0.5, 30],
    [LOWER_IS_BETTER, 0.99, 50],
  ])(
    'a seeding in direction %i sets the bar that %d of the scores reach',
    async (thresholdDirection, targetPassRate, bar) => {
      const challenge = await calibrating({ thresholdDirection, targetPassRate });
      const answer = expectAccepted(await seed(challenge.id, { sampleSize: 1_234n }));
      expect(answer).toEqual({
        challengeId: challenge.id,
        threshold: expect.closeTo(bar, 9),
        targetPassRate,
        sampleSize: 1_234n,
        repeated: false,
      });
      expect(await read(challenge.id)).toEqual({
        ...challenge,
        status: ChallengeStatus.LIVE,
        threshold: answer.threshold,
        calibrationSource: CalibrationSource.PARTNER_SEEDED,
        calibration: undefined,
        offeredFeeCents: 100n,
        offeredPrizeCents: 500n,
        ramp: { fullPrizeCents: 2_000n, attemptsSeen: 0n, attemptsRequired: 100n },
      });
      const now = h.clock();
      const { threshold } = answer;
      expect(await rowsOf(challenge.id)).toEqual({
        seeded: [{ ...DISTRIBUTION, sample_size: 1_234n, threshold, seeded_at: now }],
        monitors: [{ started_at: now, attempts: 0n, passes: 0n }],
        changes: [
          {
            changed_at: now,
            from_status: 'calibrating',
            to_status: 'live',
            cause: 'seeded',
            note: null,
            attempts: null,
          },
        ],
      });
    },
  );

  it('a seeding charges only later attempts', async () => {
    const challenge = await calibrating();
    const player = await h.player();
    const before = created(await h.create(challenge.id, player.ref));
    expectAccepted(await seed(challenge.id));
    expect(recorded(await h.report(before.id, 1e6))).toMatchObject({
      metThreshold: false,
      thresholdApplied: undefined,
      award: undefined,
    });
    const after = created(await h.create(challenge.id, player.ref));
    expect(after.feeCents).toBe(100n);
    expect(recorded(await h.report(after.id, 40))).toMatchObject({ metThreshold: true, thresholdApplied: 40 });
  });

  it('the seeding of a calibrating challenge is refused for an invalid distribution or too few scores', async () => {
    const challenge = await calibrating();
    const bad: readonly Partial<SeedChallengeRequest>[] = [
      { distribution: undefined },
      { distribution: { ...DISTRIBUTION, p5: Number.NaN } },
      { distribution: { ...DISTRIBUTION, p5: Number.NEGATIVE_INFINITY } },
      { distribution: { ...DISTRIBUTION, p95: Number.POSITIVE_INFINITY } },
      { distribution: { ...DISTRIBUTION, p25: DISTRIBUTION.p5 } },
      { distribution: { ...DISTRIBUTION, p50: 41 } },
      { distribution: { p5: 50, p25: 40, p50: 30, p75: 20, p95: 10 } },
      { sampleSize: 499n },
      { sampleSize: 0n },
      { sampleSize: -500n },
      { sampleSize: 2n ** 53n },
    ];
    for (const changes of bad) {
      const use = keyUse();
      expect(codeOf(await seed(challenge.id, { ...changes, keyUse: use }))).toBe('invalid_request');
      expect(await h.database.query({ text: 'select from key_uses where key_id = $1' }, [use.keyId])).toEqual([]);
    }
    expect(await read(challenge.id)).toEqual(challenge);
    expect(await rowsOf(challenge.id)).toEqual({ seeded: [], monitors: [], changes: [] });
  });

  it('the seeding of a challenge that does not calibrate is refused', async () => {
    const parent = await h.open();
    const set = async (challenge: Challenge, status: ChallengeStatus) =>
      expectAccepted(await h.challenge.updateChallengeStatus({ challengeId: challenge.id, status, note: undefined }))
        .challenge as Challenge;
    const refused = [
      parent,
      await set(await calibrating(), ChallengeStatus.SUSPENDED),
      await set(await calibrating(), ChallengeStatus.CLOSED),
      await set(await h.open(), ChallengeStatus.SUSPENDED),
      await set(await h.open(), ChallengeStatus.CLOSED),
      await calibrating({ parentChallengeId: parent.id }),
      await h.open({ prizeStructure: PrizeStructure.TOP_N, topN: 3 }),
    ];
    for (const challenge of refused) {
      expect(codeOf(await seed(challenge.id))).toBe('invalid_request');
      expect(await read(challenge.id)).toEqual(challenge);
    }
  });

  it('the seeding of another program’s challenge is refused like that of an unknown challenge', async () => {
    const challenge = await calibrating();
    const answers = [
      await seed(challenge.id, { tenant: OTHER_PROGRAM }),
      await seed(challenge.id, { tenant: { ...PROGRAM, environment: Environment.LIVE } }),
      await seed(newId()),
    ];
    expect(answers[0]).toMatchObject({ code: 'invalid_request' });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(await read(challenge.id)).toEqual(challenge);
  });

  it('a seeding is refused if its bar would be outside the plausible window', async () => {
    const low = await calibrating({ scoreMin: 40.5 });
    const high = await calibrating({ scoreMax: 39.5 });
    const edge = await calibrating({ scoreMin: 40, scoreMax: 40 });
    expect(codeOf(await seed(low.id))).toBe('invalid_request');
    expect(codeOf(await seed(high.id))).toBe('invalid_request');
    expect(expectAccepted(await seed(edge.id)).threshold).toBe(40);
  });
});

describe('a seeding that is sent again', () => {
  it('a repeated seeding gets its first result, whatever the challenge’s state is now', async () => {
    const challenge = await calibrating();
    const seeding = seedingOf(challenge.id, { keyUse: keyUse() });
    const first = expectAccepted(await h.challenge.seedChallenge(seeding));
    expect(expectAccepted(await other.challenge.seedChallenge(seeding))).toEqual({ ...first, repeated: true });
    const status = ChallengeStatus.CLOSED;
    expectAccepted(await h.challenge.updateChallengeStatus({ challengeId: challenge.id, status, note: undefined }));
    expect(expectAccepted(await h.challenge.seedChallenge(seeding))).toEqual({ ...first, repeated: true });
    expect(await rowsOf(challenge.id)).toMatchObject({ seeded: [{}], monitors: [{}] });
  });

  it('a seeding under an operation id that seeded another challenge is refused', async () => {
    const [first, second] = [await calibrating(), await calibrating()];
    const operationId = newId();
    expectAccepted(await seed(first.id, { operationId }));
    expect(codeOf(await seed(second.id, { operationId }))).toBe('invalid_request');
    expect(codeOf(await seed(first.id, { operationId, tenant: OTHER_PROGRAM }))).toBe('invalid_request');
    expect(await read(second.id)).toEqual(second);
  });

  it('a seeding under a recorded key returns the recorded seeding, on every replica', async () => {
    const challenge = await calibrating();
    const use = keyUse();
    const first = expectAccepted(await seed(challenge.id, { keyUse: use }));
    expect(expectAccepted(await other.challenge.seedChallenge(seedingOf(challenge.id, { keyUse: use })))).toEqual({
      ...first,
      repeated: true,
    });
    expect(expectAccepted(await seed(challenge.id, { keyUse: { ...use, isFirst: false } }))).toEqual({
      ...first,
      repeated: true,
    });
  });

  it('a different seeding under a recorded key is refused', async () => {
    const [first, second] = [await calibrating(), await calibrating()];
    const use = keyUse();
    expectAccepted(await seed(first.id, { keyUse: use }));
    expect(codeOf(await seed(first.id, { keyUse: keyUse(use.keyId, 2) }))).toBe('idempotency_key_reused');
    expect(codeOf(await seed(second.id, { keyUse: keyUse(use.keyId, 2) }))).toBe('idempotency_key_reused');
    expect(await read(second.id)).toEqual(second);
  });

  it('a different seeding under a key that the gateway has freed is a new seeding', async () => {
    const [first, second] = [await calibrating(), await calibrating()];
    const use = keyUse();
    expectAccepted(await seed(first.id, { keyUse: use }));
    const freed = keyUse(use.keyId, 2, false);
    expect(codeOf(await seed(first.id, { keyUse: freed }))).toBe('invalid_request');
    const seeded = expectAccepted(await seed(second.id, { keyUse: freed }));
    expect(expectAccepted(await seed(second.id, { keyUse: freed }))).toEqual({ ...seeded, repeated: true });
    expect(codeOf(await seed(first.id, { keyUse: use }))).toBe('idempotency_key_reused');
  });

  it('a seeding that was refused leaves its idempotency key free', async () => {
    const challenge = await calibrating();
    const use = keyUse();
    expect(codeOf(await seed(challenge.id, { keyUse: use, sampleSize: 499n }))).toBe('invalid_request');
    expect(codeOf(await seed(challenge.id, { keyUse: keyUse(use.keyId, 2) }))).toBe('seeded');
  });
});

describe('concurrent seedings', () => {
  const everywhere = (seedings: readonly SeedChallengeRequest[]) =>
    Promise.all(seedings.map((seeding, index) => (index % 2 === 0 ? h : other).challenge.seedChallenge(seeding)));

  it('only one of several concurrent seedings sets the bar', async () => {
    const challenge = await calibrating();
    const seedings = Array.from({ length: 24 }, (_, index) =>
      seedingOf(challenge.id, { distribution: { ...DISTRIBUTION, p75: 31 + index / 4 }, keyUse: keyUse() }),
    );
    const answers = await everywhere(seedings);
    const seeded = answers.flatMap((answer) => ('kind' in answer ? [] : [answer]));
    expect(seeded).toHaveLength(1);
    expect(answers.map(codeOf).filter((code) => code === 'invalid_request')).toHaveLength(23);
    expect((await read(challenge.id))?.threshold).toBe(seeded[0]?.threshold);
    expect(await rowsOf(challenge.id)).toMatchObject({ seeded: [{}], monitors: [{}], changes: [{}] });
  });

  it('concurrent seedings under one operation or one key get the same result', async () => {
    const challenge = await calibrating();
    const use = keyUse();
    const one = seedingOf(challenge.id, { keyUse: use });
    const answers = await everywhere(
      Array.from({ length: 24 }, (_, index) => (index % 3 === 0 ? seedingOf(challenge.id, { keyUse: use }) : one)),
    );
    expect(answers.map((answer) => expectAccepted(answer).threshold)).toEqual(answers.map(() => 40));
    expect(answers.filter((answer) => !expectAccepted(answer).repeated)).toHaveLength(1);
    expect(await rowsOf(challenge.id)).toMatchObject({ seeded: [{}], monitors: [{}], changes: [{}] });
  });

  it('only one of several concurrent seedings under one key takes effect', async () => {
    for (let round = 0; round < 5; round += 1) {
      const challenges = await Promise.all(Array.from({ length: 8 }, () => calibrating()));
      const keyId = newId();
      const answers = await everywhere(
        challenges.map(({ id }, index) => seedingOf(id, { keyUse: keyUse(keyId, index) })),
      );
      expect(answers.map(codeOf).toSorted()).toEqual([
        ...Array.from({ length: 7 }, () => 'idempotency_key_reused'),
        'seeded',
      ]);
      const bars = await Promise.all(challenges.map(async ({ id }) => (await read(id))?.threshold));
      expect(bars.filter((bar) => bar !== undefined)).toHaveLength(1);
    }
  });

  /**
   * Starts both calls while the row of the challenge is locked, so that the first call gets the
   * lock before the second.
   */
  async function inThisOrder<First, Second>(
    { id }: Challenge,
    first: () => Promise<First>,
    second: () => Promise<Second>,
  ): Promise<readonly [First, Second]> {
    const waiting = {
      text: `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    };
    const isWaited = async (by: number) => {
      while ((await h.database.query(waiting)).length < by);
    };
    const started = await h.database.transaction(async (tx) => {
      await tx.query({ text: 'select from challenges where id = $1 for no key update' }, [id]);
      const ofFirst = first();
      await isWaited(1);
      const ofSecond = second();
      await isWaited(2);
      return { ofFirst, ofSecond };
    });
    return [await started.ofFirst, await started.ofSecond];
  }

  /**
   * Opens a challenge that lacks one sample for a bar of 9. Returns it, and a function that reports
   * the sample.
   */
  async function almostCalibrated() {
    const challenge = await calibrating({ minCalibrationN: 3, minCalibrationPlayers: 3 });
    for (const player of ['unlinked-1', 'unlinked-2']) {
      recorded(await h.report(created(await h.create(challenge.id, player)).id, 7));
    }
    const { id } = created(await h.create(challenge.id, 'unlinked-3'));
    return {
      challenge,
      complete: () => h.report(id, 9),
      seed: () => other.challenge.seedChallenge(seedingOf(challenge.id)),
    };
  }

  it('a seeding is refused if a sample completes the calibration while the seeding waits', async () => {
    const { challenge, complete, ...start } = await almostCalibrated();
    const [outcome, seeded] = await inThisOrder(challenge, complete, start.seed);
    recorded(outcome);
    expect(codeOf(seeded)).toBe('invalid_request');
    expect(await read(challenge.id)).toMatchObject({
      status: ChallengeStatus.LIVE,
      threshold: 9,
      calibrationSource: CalibrationSource.OBSERVED,
      ramp: { fullPrizeCents: 2_000n, attemptsSeen: 0n, attemptsRequired: 100n },
    });
    expect(await rowsOf(challenge.id)).toMatchObject({
      seeded: [],
      monitors: [{}],
      changes: [{ cause: 'calibrated' }],
    });
  });

  it('a score that waits for a seeding is recorded as an outcome, but not as a sample', async () => {
    const { challenge, complete, ...start } = await almostCalibrated();
    const [seeded, outcome] = await inThisOrder(challenge, start.seed, complete);
    expect(recorded(outcome)).toMatchObject({ score: 9, metThreshold: false });
    expect(codeOf(seeded)).toBe('seeded');
    expect(await read(challenge.id)).toMatchObject({
      status: ChallengeStatus.LIVE,
      threshold: 40,
      calibrationSource: CalibrationSource.PARTNER_SEEDED,
    });
    expect(await rowsOf(challenge.id)).toMatchObject({ seeded: [{}], monitors: [{}], changes: [{ cause: 'seeded' }] });
    const samples = await h.database.query({ text: 'select from bar_samples where challenge_id = $1' }, [challenge.id]);
    expect(samples).toHaveLength(2);
  });

  it('a seeding that waits for a suspension is refused', async () => {
    const suspend =
      ({ id }: Challenge) =>
      () =>
        h.challenge.updateChallengeStatus({ challengeId: id, status: ChallengeStatus.SUSPENDED, note: undefined });
    const [first, second] = [await calibrating(), await calibrating()];
    const [, late] = await inThisOrder(first, suspend(first), () => seed(first.id));
    expect(codeOf(late)).toBe('invalid_request');
    expect(await read(first.id)).toMatchObject({ status: ChallengeStatus.SUSPENDED, threshold: undefined });
    const [early] = await inThisOrder(second, () => seed(second.id), suspend(second));
    expect(codeOf(early)).toBe('seeded');
    expect(await read(second.id)).toMatchObject({ status: ChallengeStatus.SUSPENDED, threshold: 40 });
  });
});
