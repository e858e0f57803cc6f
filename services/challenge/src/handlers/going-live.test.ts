/**
 * Creations while the bar or the prize of their challenge changes. Each attempt freezes the offer
 * before the change or the offer after it, never parts of both.
 */

import { type Challenge, ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { created, type Harness, PROGRAM, useHarness } from '../challenge.fixture.ts';

const h = useHarness();
let other: Awaited<ReturnType<Harness['startReplica']>>;
beforeAll(async () => {
  other = await h.startReplica();
});
afterAll(() => other[Symbol.asyncDispose]());

const calibrating = () =>
  h.open({ targetPassRate: 0.25, dailyAttemptCap: 10_000 }, { status: ChallengeStatus.CALIBRATING });

const seed = async ({ id }: Challenge) =>
  expectAccepted(
    await other.challenge.seedChallenge({
      operationId: newId(),
      tenant: PROGRAM,
      challengeId: id,
      distribution: { p5: 10, p25: 20, p50: 30, p75: 40, p95: 50 },
      sampleSize: 500n,
      keyUse: undefined,
    }),
  );

const completeRamp = ({ id }: Challenge) =>
  h.database.query({ text: 'update challenges set ramp_completed_at = $2 where id = $1' }, [id, h.clock()]);

type Frozen = { readonly fee_cents: bigint; readonly prize_cents: bigint; readonly threshold: number | null };
const FREE: Frozen = { fee_cents: 0n, prize_cents: 0n, threshold: null };
const CAPPED: Frozen = { fee_cents: 100n, prize_cents: 500n, threshold: 40 };
const FULL: Frozen = { fee_cents: 100n, prize_cents: 2_000n, threshold: 40 };

type Batch = { readonly isBefore: boolean; readonly isAfter: boolean; readonly attempts: readonly Frozen[] };

/**
 * Changes the challenge while four callers create attempts of two players on two replicas, one
 * batch after the other. Each caller creates several batches before the change begins, and several
 * after it has ended.
 */
async function createAround(challenge: Challenge, change: (challenge: Challenge) => Promise<unknown>) {
  // Few players, so that the open attempts on an unconfirmed bar stay below the limit of 100.
  const players = await Promise.all(Array.from({ length: 2 }, () => h.player(undefined, 1_000_000n)));
  const callers = 4;
  const batches: Batch[] = [];
  let [hasBegun, hasEnded] = [false, false];
  const { promise: loaded, resolve: isLoaded } = Promise.withResolvers<void>();
  const creating = Array.from({ length: callers }, async (_, caller) => {
    let batchesAfter = 0;
    while (batchesAfter < 3) {
      const isAfter = hasEnded;
      const creations = players.map(({ ref }) => ({
        attemptId: newOwnedId('challenge'),
        tenant: PROGRAM,
        contestId: challenge.id,
        playerRef: ref,
        metadataJson: '{}',
        requestId: '',
        keyUse: undefined,
      }));
      const answer = await (caller % 2 === 0 ? h : other).challenge.createAttempts({ creations });
      const isBefore = !hasBegun;
      const attempts = await frozenOf(expectAccepted(answer).results.map(({ result }) => created(result).id));
      batches.push({ isBefore, isAfter, attempts });
      if (isAfter) batchesAfter += 1;
      if (batches.length >= 3 * callers) isLoaded();
    }
  });
  await loaded;
  hasBegun = true;
  await change(challenge);
  hasEnded = true;
  await Promise.all(creating);
  return {
    before: batches.flatMap(({ isBefore, attempts }) => (isBefore ? attempts : [])),
    during: batches.flatMap(({ isBefore, isAfter, attempts }) => (isBefore || isAfter ? [] : attempts)),
    after: batches.flatMap(({ isAfter, attempts }) => (isAfter ? attempts : [])),
  };
}

const frozenOf = (ids: readonly string[]) =>
  h.database.query<Frozen>(
    { text: 'select fee_cents, prize_cents, threshold from attempts where id = any($1::uuid[])' },
    [ids],
  );

describe('attempts that are created under load', () => {
  it('an attempt that races with a seeding is either free, or has a fee, a capped prize and a bar', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { before, during, after } = await createAround(await calibrating(), seed);
      expect(before).toEqual(before.map(() => FREE));
      expect(during).toEqual(during.map(({ threshold }) => (threshold === null ? FREE : CAPPED)));
      expect(after).toEqual(after.map(() => CAPPED));
      expect(before.length).toBeGreaterThan(0);
    }
  });

  it('an attempt that races with the completion of the ramp has either the capped or the full prize', async () => {
    for (let round = 0; round < 4; round += 1) {
      const challenge = await calibrating();
      await seed(challenge);
      const { before, during, after } = await createAround(challenge, completeRamp);
      expect(before).toEqual(before.map(() => CAPPED));
      expect(during).toEqual(during.map(({ prize_cents }) => (prize_cents === 500n ? CAPPED : FULL)));
      // No creation after the change is decided on the old cached row.
      expect(after).toEqual(after.map(() => FULL));
      expect(before.length).toBeGreaterThan(0);
    }
  });

  it('every creation after a suspension is refused, even under load', async () => {
    const challenge = await h.open({ dailyAttemptCap: 10_000 });
    const { ref } = await h.player(undefined, 1_000_000n);
    let isOver = false;
    const creating = [h, other].map(async ({ challenge: client }) => {
      const codes: string[] = [];
      while (!isOver) {
        const creation = {
          attemptId: newOwnedId('challenge'),
          tenant: PROGRAM,
          contestId: challenge.id,
          playerRef: ref,
        };
        const creations = [{ ...creation, metadataJson: '{}', requestId: '', keyUse: undefined }];
        const { result } = expectAccepted(await client.createAttempts({ creations })).results[0] ?? {};
        codes.push(result?.$case === 'refused' ? result.value.code : (result?.$case ?? ''));
      }
      return codes;
    });
    const status = ChallengeStatus.SUSPENDED;
    expectAccepted(await h.challenge.updateChallengeStatus({ challengeId: challenge.id, status, note: undefined }));
    const suspended = await Promise.all([h, other].map(() => h.create(challenge.id, ref)));
    isOver = true;
    for (const result of suspended) expect(result).toMatchObject({ value: { code: 'challenge_not_available' } });
    for (const codes of await Promise.all(creating)) {
      const first = codes.indexOf('challenge_not_available');
      expect(new Set(codes.slice(0, Math.max(first, 0)))).toEqual(new Set(first > 0 ? ['attempt'] : []));
      expect(
        codes.slice(Math.max(first, 0)).every((code) => code === (first < 0 ? 'attempt' : 'challenge_not_available')),
      ).toBe(true);
    }
  });
});
