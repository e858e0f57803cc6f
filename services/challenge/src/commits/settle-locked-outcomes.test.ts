/** Outcomes of attempts that are not cached, which are decided under the locks on the attempts. */

import { ChallengeStatus, PrizeStructure } from '@laurel/proto/challenge';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, useHarness } from '../challenge.fixture.ts';
import { useSettlements } from './outcome-settlements.fixture.ts';

const h = useHarness();
const s = useSettlements(h);

/** Returns the scores that count for the bar of a challenge. */
async function samplesOf(challengeId: string): Promise<readonly number[]> {
  const text = 'select score from bar_samples where challenge_id = $1 order by score';
  const rows = await h.database.query<{ score: number }>({ text }, [challengeId]);
  return rows.map(({ score }) => score);
}

describe('a batch of reports on attempts that are not cached', () => {
  it('a batch of uncached reports is one transaction and awards the first claim of an account', async () => {
    const { first, second } = await s.twoAttempts();
    await h.server.sweepOnce();
    const instance = s.startInstance();
    const [won, late, missing] = await Promise.all([
      instance.report(second, 100),
      instance.report(first, 150),
      instance.report(newId(), 100),
    ]);
    expect(instance.transactions).toBe(1);
    expect(won).toMatchObject({ outcome: { metThreshold: true }, won: { award: { attemptId: second } } });
    expect(late).toMatchObject({ outcome: { metThreshold: true }, won: null });
    expect(missing).toMatchObject({ kind: 'refused', code: 'not_found' });
    expect(await s.traceOf(first)).toMatchObject({ status: 'settled', award_id: null, events: 1 });
    // The commit that records the wallet's decision on an award emits its event.
    expect(instance.published.map(({ payload }) => payload)).toMatchObject([{ value: { attemptId: first } }]);
  });

  it('a score outside the window disqualifies its attempt and does not affect the rest of the batch', async () => {
    const [bad, good] = [await h.openAttempt({ scoreMin: 0 }), await h.openAttempt({ scoreMin: 0 })];
    await h.server.sweepOnce();
    const instance = s.startInstance();
    const answers = await Promise.all([
      instance.report(bad.attempt.id, -1),
      instance.report(good.attempt.id, 1),
      instance.report(bad.attempt.id, 1),
    ]);
    expect(answers).toMatchObject([
      { kind: 'refused', code: 'score_out_of_range' },
      { kind: 'recorded' },
      { kind: 'refused', code: 'score_out_of_range' },
    ]);
    expect(await s.traceOf(bad.attempt.id)).toMatchObject({
      status: 'open',
      disqualified_at: h.clock(),
      receipt_id: null,
    });
    h.clock.advance(3_600_000);
    await h.server.sweepOnce();
  });

  it('only scores of free attempts and of top_n challenges count for the bar', async () => {
    const player = await h.player();
    const calibrating = await h.open({}, { status: ChallengeStatus.CALIBRATING });
    const topN = await h.open({ prizeStructure: PrizeStructure.TOP_N, topN: 1 });
    const live = await h.open();
    const instance = s.startInstance();
    for (const [challenge, scores] of [
      [calibrating, [5]],
      [topN, [7, 9]],
      [live, []],
    ] as const) {
      for (const score of scores.length === 0 ? [1] : scores) {
        const attempt = created(await h.create(challenge.id, player.ref));
        await h.server.sweepOnce();
        expect(await instance.report(attempt.id, score)).toMatchObject({ kind: 'recorded' });
      }
      expect(await samplesOf(challenge.id)).toEqual(scores);
    }
  });
});
