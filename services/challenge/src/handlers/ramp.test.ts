/**
 * The prize of a challenge with a ramp: the prize that is shown, that attempts freeze, and that is
 * paid.
 */

import { type Challenge, ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();

type Terms = NonNullable<Challenge['terms']>;

/** Opens a live challenge with a bar of 40, which follows from a partner's percentiles. */
async function seeded(terms: Partial<Terms> = {}): Promise<Challenge> {
  const challenge = await h.open({ targetPassRate: 0.25, ...terms }, { status: ChallengeStatus.CALIBRATING });
  expectAccepted(
    await h.challenge.seedChallenge({
      operationId: newId(),
      tenant: PROGRAM,
      challengeId: challenge.id,
      distribution: { p5: 10, p25: 20, p50: 30, p75: 40, p95: 50 },
      sampleSize: 500n,
      keyUse: undefined,
    }),
  );
  return read(challenge);
}

const read = async ({ id }: Challenge) =>
  expectAccepted(await h.challenge.getChallenge({ challengeId: id })).challenge as Challenge;

async function listed({ id }: Challenge, all = true): Promise<Challenge | undefined> {
  const { challenges } = expectAccepted(
    await h.challenge.listChallenges({ tenant: PROGRAM, playerRef: 'unlinked', all }),
  );
  return challenges.find((challenge) => challenge.id === id);
}

const completeRamp = ({ id }: Challenge) =>
  h.database.query({ text: 'update challenges set ramp_completed_at = $2 where id = $1' }, [id, h.clock()]);

/**
 * Challenges with made-up outcomes that have no attempts. These outcomes are removed before the
 * audit at the end of this file.
 */
const madeUp: string[] = [];
afterAll(async () => {
  await h.database.query({ text: 'delete from unmonitored_outcomes where challenge_ids && $1::uuid[]' }, [madeUp]);
  await h.database.query(
    { text: 'update drift_monitors set attempts = 0, passes = 0 where challenge_id = any($1::uuid[])' },
    [madeUp],
  );
});

const wait = ({ id }: Challenge, passed: readonly boolean[]) =>
  h.database.query({ text: 'insert into unmonitored_outcomes (challenge_ids, passed) values ($1, $2)' }, [
    passed.map(() => id),
    passed,
  ]);

const count = ({ id }: Challenge, attempts: number) =>
  h.database.query({ text: 'update drift_monitors set attempts = $2 where challenge_id = $1' }, [id, attempts]);

/** Wins an attempt of a new player, and returns the amount of the award. */
async function win({ id }: Challenge) {
  const player = await h.player();
  const attempt = created(await h.create(id, player.ref));
  return recorded(await h.report(attempt.id, 40)).award?.amountCents;
}

describe('the prize of a challenge that a partner seeded', () => {
  it.each([
    [1, 2_500n, 500n],
    [2, 25_000n, 5_000n],
    [3, 250_000n, 50_000n],
    [1, 501n, 500n],
  ])(
    'the prize of a seeded challenge is capped at 20 %% of the ceiling of tier %i',
    async (integrityTier, prizeCents, capCents) => {
      const challenge = await seeded({ integrityTier, prizeCents });
      expect(challenge).toMatchObject({
        offeredPrizeCents: capCents,
        ramp: { fullPrizeCents: prizeCents, attemptsSeen: 0n, attemptsRequired: 100n },
      });
      expect(await listed(challenge)).toEqual(challenge);
      expect(await listed(challenge, false)).toEqual(challenge);
      expect(await win(challenge)).toBe(capCents);
    },
  );

  it.each([[400n], [500n]])(
    'the prize of a seeded challenge is paid in full if it is within the cap (%s cents)',
    async (prizeCents) => {
      const challenge = await seeded({ prizeCents });
      expect(challenge).toMatchObject({ offeredPrizeCents: prizeCents, ramp: undefined });
      expect((await listed(challenge))?.ramp).toBeUndefined();
      expect(await win(challenge)).toBe(prizeCents);
    },
  );

  it('an award pays the prize that its attempt froze, even after the ramp is completed', async () => {
    const challenge = await seeded();
    const player = await h.player();
    const during = created(await h.create(challenge.id, player.ref));
    await completeRamp(challenge);
    expect(await read(challenge)).toEqual({ ...challenge, offeredPrizeCents: 2_000n, ramp: undefined });
    expect(await win(challenge)).toBe(2_000n);
    expect(recorded(await h.report(during.id, 40)).award?.amountCents).toBe(500n);
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n + 500n);
  });

  it('a seeded challenge with a prize above the ceiling of its tier is not available', async () => {
    const challenge = await seeded({ prizeCents: 2_501n });
    expect(challenge.ramp?.fullPrizeCents).toBe(2_501n);
    expect(await listed(challenge, false)).toBeUndefined();
    const player = await h.player();
    expect(await h.create(challenge.id, player.ref)).toMatchObject({ value: { code: 'challenge_not_available' } });
  });
});

describe('the progress of a ramp', () => {
  // First counts the outcomes of the tests above, so that no run of the monitor takes the outcomes
  // that the tests below insert.
  beforeAll(() => h.server.sweepOnce());

  it('the progress of a ramp includes outcomes that the monitor has yet to count', async () => {
    const challenge = await seeded();
    madeUp.push(challenge.id);
    const seen = async () => (await listed(challenge))?.ramp?.attemptsSeen;
    await wait(challenge, [true, false, false]);
    await wait(challenge, [false]);
    expect(await seen()).toBe(4n);
    await count(challenge, 90);
    expect(await seen()).toBe(94n);
    await wait(
      challenge,
      Array.from({ length: 30 }, () => false),
    );
    expect(await seen()).toBe(100n);
    expect((await read(challenge)).ramp).toEqual({
      fullPrizeCents: 2_000n,
      attemptsSeen: 100n,
      attemptsRequired: 100n,
    });
    await completeRamp(challenge);
    expect((await listed(challenge))?.ramp).toBeUndefined();
  });

  it('the progress of a ramp excludes waiting outcomes while the challenge is suspended', async () => {
    const challenge = await seeded();
    madeUp.push(challenge.id);
    await count(challenge, 7);
    await wait(challenge, [true]);
    const status = ChallengeStatus.SUSPENDED;
    const suspended = expectAccepted(
      await h.challenge.updateChallengeStatus({ challengeId: challenge.id, status, note: undefined }),
    );
    expect(suspended.challenge?.ramp?.attemptsSeen).toBe(7n);
  });
});
