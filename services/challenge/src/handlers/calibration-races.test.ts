/**
 * Concurrent scores at two replicas complete a calibration once. A concurrent creation sees the
 * challenge either calibrating or live with its bar, never a mix of both.
 */
import { expectAccepted } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { created, type Harness, recorded, useHarness } from '../challenge.fixture.ts';
import { reportOf } from '../commits/outcome-settlements.fixture.ts';
import { fairShareOf } from '../domain/calibration.ts';
import { createSamplesHarness, listenedScore } from './samples.fixture.ts';

const h = useHarness();
const s = createSamplesHarness(h);
let other: Awaited<ReturnType<Harness['startReplica']>>;
beforeAll(async () => {
  other = await h.startReplica();
});
afterAll(() => other[Symbol.asyncDispose]());

const TERMS = { minCalibrationN: 30, minCalibrationPlayers: 10, targetPassRate: 0.2 };
const clientOf = (index: number) => (index % 2 === 0 ? h : other).challenge;

/** Creates `count` free attempts, of ten players in turn. */
async function freeAttempts(challengeId: string, count: number) {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      return { attempt: created(await h.create(challengeId, `player ${index % 10}`)), score: index };
    }),
  );
}

describe('concurrent scores', () => {
  it('concurrent scores at two replicas set one bar, from exactly the required samples', async () => {
    const challenge = await s.open(TERMS);
    const attempts = await freeAttempts(challenge.id, 60);
    const outcomes = await Promise.all(
      attempts.map(async ({ attempt, score }, index) =>
        recorded(expectAccepted(await clientOf(index).reportOutcomes(reportOf(attempt.id, score))).results[0]?.result),
      ),
    );
    expect(outcomes).toHaveLength(60);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ metThreshold: false, thresholdApplied: undefined });
    const text = 'select score from bar_samples where challenge_id = $1 order by score desc';
    const samples = await h.database.query<{ score: number }>({ text }, [challenge.id]);
    expect(samples.length).toBeGreaterThanOrEqual(30);
    expect(await s.traceOf(challenge.id)).toMatchObject({
      status: 'live',
      threshold: samples[Math.round(samples.length * 0.2) - 1]?.score,
      collected: samples.length,
      players: 10,
      monitors: 1,
      changes: ['calibrated: calibrating to live'],
    });
  });

  it('concurrent scores for several challenges never deadlock or exceed a fair share', async () => {
    const challenges = await Promise.all(Array.from({ length: 5 }, () => s.open(TERMS)));
    const attempts = (await Promise.all(challenges.map(({ id }) => freeAttempts(id, 20)))).flat();
    const reports = attempts
      .map(({ attempt, score }) => reportOf(attempt.id, score).reports[0])
      .flatMap((it) => it ?? []);
    const sortedOtherwise = reports.toSorted((one, another) => (one.operationId < another.operationId ? -1 : 1));
    const scores = Array.from({ length: 200 }, (_, index) =>
      listenedScore(challenges[(index * 3) % 5]?.id ?? '', `player ${index % 7}`, index),
    );
    const calls = Array.from({ length: 10 }, (_, call) => [
      clientOf(call).reportOutcomes({ reports: sortedOtherwise.slice(call * 10, call * 10 + 10) }),
      clientOf(call + 1).recordListenedScores({ scores: scores.slice(call * 20, call * 20 + 20).toReversed() }),
    ]);
    await Promise.all(calls.flat());
    for (const { id } of challenges) {
      const text =
        'select max(count)::int as most from (select count(*) from bar_samples where challenge_id = $1 group by player)';
      const [row] = await h.database.query<{ most: number }>({ text }, [id]);
      expect(row?.most).toBeLessThanOrEqual(fairShareOf(TERMS));
      const trace = await s.traceOf(id);
      expect(trace).toMatchObject({ status: 'live', monitors: 1, changes: ['calibrated: calibrating to live'] });
      expect(trace).toMatchObject(await recountOf(id));
    }
  });

  it('an attempt that is created while its challenge goes live is either free without a bar, or paid with the bar', async () => {
    const challenge = await s.open();
    const players = await Promise.all(Array.from({ length: 10 }, () => h.player()));
    for (const ref of ['one', 'two', 'one']) await s.score(challenge.id, ref, 10);
    const create = (index: number) => h.create(challenge.id, players[index % 10]?.ref ?? '');
    const [early, , late] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, (_, index) => create(index))),
      s.listen(listenedScore(challenge.id, 'two', 20)),
      Promise.all(Array.from({ length: 20 }, (_, index) => create(index))),
    ]);
    expect([...early, ...late].map(created)).toHaveLength(40);
    const text =
      'select distinct fee_cents, prize_cents, threshold from attempts where challenge_id = $1 order by fee_cents';
    const offers = await h.database.query<object>({ text }, [challenge.id]);
    const free = { fee_cents: 0n, prize_cents: 0n, threshold: null };
    for (const offer of offers)
      expect([free, { ...free, fee_cents: 100n, prize_cents: expect.anything(), threshold: 20 }]).toContainEqual(offer);
    expect(created(await create(0)).feeCents).toBe(100n);
  });
});

/** Counts the calibration's counters again from the samples. */
async function recountOf(challengeId: string): Promise<object> {
  const text = `
    select count(*)::int as collected, count(distinct player)::int as players from bar_samples where challenge_id = $1`;
  const [row] = await h.database.query<object>({ text }, [challengeId]);
  return row ?? {};
}
