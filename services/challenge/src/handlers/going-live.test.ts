/** Creations while the bar or the prize of their challenge changes: each attempt freezes what was on offer before or after, never a mix. */
import { newId, newOwnedId } from '@laurel/ids';
import { type Challenge, ChallengeStatus } from '@laurel/proto/challenge';
import { ok } from '@laurel/testing';
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
  ok(
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

/** Creates an attempt of each player, in calls of five to two replicas in turn, one behind the other until `isOver`. What they froze. */
async function createUntil(
  isOver: () => boolean,
  { id }: Challenge,
  refs: readonly string[],
): Promise<readonly Frozen[]> {
  const attemptIds: string[] = [];
  const workers = [h, other, h, other].map(async ({ challenge }) => {
    do {
      const creations = refs.map((playerRef) => ({
        attemptId: newOwnedId('challenge'),
        tenant: PROGRAM,
        challengeId: id,
        playerRef,
        metadataJson: '{}',
        requestId: '',
        keyUse: undefined,
      }));
      const { results } = ok(await challenge.createAttempts({ creations }));
      attemptIds.push(...results.map(({ result }) => created(result).id));
    } while (!isOver());
  });
  await Promise.all(workers);
  return await h.database.query<Frozen>(
    {
      text: 'select fee_cents, prize_cents, threshold from attempts where id = any($1::uuid[]) order by created_at, id',
    },
    [attemptIds],
  );
}

/** What was frozen before the change, while it was made under load, and after it. */
async function frozenAround(challenge: Challenge, change: (challenge: Challenge) => Promise<unknown>) {
  const refs = (await Promise.all(Array.from({ length: 5 }, () => h.player(undefined, 1_000_000n)))).map(
    ({ ref }) => ref,
  );
  const atOnce = () => true;
  const before = await createUntil(atOnce, challenge, refs);
  let isOver = false;
  const during = createUntil(() => isOver, challenge, refs);
  await change(challenge);
  isOver = true;
  const d = await during;
  console.log(
    'DURING',
    d.length,
    JSON.stringify(
      Object.fromEntries(
        Object.entries(Object.groupBy(d, (x) => String(x.prize_cents))).map(([k, v]) => [k, v?.length]),
      ),
    ),
  );
  return { before, during: d, after: await createUntil(atOnce, challenge, refs) };
}

describe('attempts that are created under load', () => {
  it('attempts that are created under load while a seeding makes their challenge live are free, or have fee, prize and bar', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { before, during, after } = await frozenAround(await calibrating(), seed);
      expect(before).toEqual(before.map(() => FREE));
      expect(after).toEqual(after.map(() => CAPPED));
      expect(during.filter(({ fee_cents }) => fee_cents === 0n)).toEqual(
        during.filter(({ threshold }) => threshold === null).map(() => FREE),
      );
      expect(during.filter(({ fee_cents }) => fee_cents > 0n)).toEqual(
        during.filter(({ threshold }) => threshold !== null).map(() => CAPPED),
      );
    }
  });

  it('attempts that are created under load while the ramp is completed have the capped prize, or the full one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const challenge = await calibrating();
      await seed(challenge);
      const { before, during, after } = await frozenAround(challenge, completeRamp);
      expect(before).toEqual(before.map(() => CAPPED));
      // None is decided on the row that was cached before.
      expect(after).toEqual(after.map(() => FULL));
      expect(during).toEqual(during.map(({ prize_cents }) => (prize_cents === 500n ? CAPPED : FULL)));
    }
  });

  it('attempts that are created under load while a challenge is suspended are refused or as they were, and never after it', async () => {
    const challenge = await h.open({ dailyAttemptCap: 10_000 });
    const { ref } = await h.player(undefined, 1_000_000n);
    let isOver = false;
    const creating = [h, other].map(async ({ challenge: client }) => {
      const codes: string[] = [];
      while (!isOver) {
        const creation = {
          attemptId: newOwnedId('challenge'),
          tenant: PROGRAM,
          challengeId: challenge.id,
          playerRef: ref,
        };
        const creations = [{ ...creation, metadataJson: '{}', requestId: '', keyUse: undefined }];
        const { result } = ok(await client.createAttempts({ creations })).results[0] ?? {};
        codes.push(result?.$case === 'refused' ? result.value.code : (result?.$case ?? ''));
      }
      return codes;
    });
    const status = ChallengeStatus.SUSPENDED;
    ok(await h.challenge.updateChallengeStatus({ challengeId: challenge.id, status, note: undefined }));
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
