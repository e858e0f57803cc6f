/**
 * Listened scores as samples: which scores count, that a score counts once, and for which player.
 */

import { CalibrationSource, ChallengeStatus, PrizeStructure } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { OTHER_PROGRAM, PROGRAM, useHarness } from '../challenge.fixture.ts';
import { createSamplesHarness, listenedScore, NOT_COUNTED, RECORDED } from './samples.fixture.ts';

const h = useHarness();
const s = createSamplesHarness(h);

describe('a batch of listened scores', () => {
  it('the listened score that completes the calibration makes the challenge live', async () => {
    const challenge = await s.open();
    const scores = ['one', 'two', 'one', 'two', 'three'].map((ref, index) => listenedScore(challenge.id, ref, index));
    expect(await s.listen(...scores)).toEqual([RECORDED, RECORDED, RECORDED, RECORDED, NOT_COUNTED]);
    expect(await s.reread(challenge.id)).toMatchObject({
      status: ChallengeStatus.LIVE,
      threshold: 3,
      calibrationSource: CalibrationSource.LISTENED,
    });
    expect(await s.traceOf(challenge.id)).toMatchObject({
      collected: 4,
      samples: 4,
      monitors: 1,
      changes: ['calibrated: calibrating to live'],
    });
    // Sends the scores again, as after a lost response.
    expect(await s.listen(...scores)).toEqual([RECORDED, RECORDED, RECORDED, RECORDED, NOT_COUNTED]);
    expect(await s.listen(listenedScore(challenge.id, 'four', 9))).toEqual([NOT_COUNTED]);
    expect(await s.traceOf(challenge.id)).toMatchObject({ threshold: 3, collected: 4, samples: 4 });
  });

  it('the source of a calibration is the source of its last sample', async () => {
    const [listenedLast, observedLast] = [await s.open(), await s.open()];
    for (const ref of ['one', 'two', 'one']) await s.score(listenedLast.id, ref, 10);
    await s.listen(listenedScore(listenedLast.id, 'two', 20));
    await s.listen(...['one', 'two', 'one'].map((ref) => listenedScore(observedLast.id, ref, 10)));
    await s.score(observedLast.id, 'two', 20);
    expect(await s.reread(listenedLast.id)).toMatchObject({ calibrationSource: CalibrationSource.LISTENED });
    expect(await s.reread(observedLast.id)).toMatchObject({ calibrationSource: CalibrationSource.OBSERVED });
  });

  it('a listened score counts at most once', async () => {
    const challenge = await s.open();
    const score = listenedScore(challenge.id, 'one', 5);
    expect(await s.listen(score, score)).toEqual([RECORDED, RECORDED]);
    expect(await s.listen({ ...score, score: 6 })).toEqual([RECORDED]);
    expect(await s.traceOf(challenge.id)).toMatchObject({ collected: 1, players: 1, samples: 1 });
  });

  it('listened scores count a player by account, as attempts do', async () => {
    const challenge = await s.open({ minCalibrationN: 10 });
    const player = await h.player();
    const secondRef = `second-${newId()}`;
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: secondRef }, email: player.email }),
    );
    await s.score(challenge.id, player.ref, 1);
    await s.listen(
      listenedScore(challenge.id, player.ref, 2),
      listenedScore(challenge.id, secondRef, 3),
      listenedScore(challenge.id, 'x', 4),
    );
    expect(await s.traceOf(challenge.id)).toMatchObject({ collected: 4, players: 2 });
  });

  it('listened scores count only for a calibrating challenge of the same tenant', async () => {
    const own = await s.open();
    const live = await h.open();
    const topN = await h.open({ prizeStructure: PrizeStructure.TOP_N, topN: 2 });
    const suspended = await s.open();
    const status = ChallengeStatus.SUSPENDED;
    expectAccepted(await h.challenge.updateChallengeStatus({ challengeId: suspended.id, status }));
    const statuses = await s.listen(
      { ...listenedScore(own.id, 'one', 1), tenant: OTHER_PROGRAM },
      listenedScore(newId(), 'one', 1),
      listenedScore(live.id, 'one', 1),
      listenedScore(topN.id, 'one', 1),
      listenedScore(suspended.id, 'one', 1),
      listenedScore(own.id, 'one', 1),
    );
    expect(statuses).toEqual([NOT_COUNTED, NOT_COUNTED, NOT_COUNTED, NOT_COUNTED, NOT_COUNTED, RECORDED]);
    expect(await s.traceOf(own.id)).toMatchObject({ collected: 1, samples: 1 });
    for (const { id } of [live, topN, suspended]) expect(await s.traceOf(id)).toMatchObject({ samples: 0 });
  });

  it('a batch of listened scores does not reveal another tenant’s recorded samples', async () => {
    const challenge = await s.open();
    const score = listenedScore(challenge.id, 'one', 1);
    expect(await s.listen(score)).toEqual([RECORDED]);
    expect(await s.listen({ ...score, tenant: OTHER_PROGRAM })).toEqual([NOT_COUNTED]);
  });

  it('a batch with a score that is not a number is not recorded', async () => {
    const challenge = await s.open();
    const scores = [listenedScore(challenge.id, 'one', 1), listenedScore(challenge.id, 'two', Number.NaN)];
    await expect(h.challenge.recordListenedScores({ scores })).rejects.toThrow();
    const many = Array.from({ length: 201 }, () => listenedScore(challenge.id, 'one', 1));
    await expect(h.challenge.recordListenedScores({ scores: many })).rejects.toThrow();
    expect(await s.traceOf(challenge.id)).toMatchObject({ samples: 0 });
    expect(await s.listen()).toEqual([]);
  });
});
