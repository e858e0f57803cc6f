import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, recorded, useHarness } from '../challenge.fixture.ts';
import { createSamplesHarness, listenedScore } from '../handlers/samples.fixture.ts';
import { loadPaidScores, loadSampledScores } from './scores.ts';

const h = useHarness();
const s = createSamplesHarness(h);

const NOW_MS = Date.parse('2026-11-21T12:00:00.000Z');

const ascending = (scores: readonly number[]) => scores.toSorted((one, other) => one - other);

describe('a limited number of scores', () => {
  it('the samples are read completely if all fit, and otherwise only the latest', async () => {
    const { id } = await s.open({ minCalibrationN: 100 });
    for (const [index, score] of [3, 1, 2].entries()) {
      await s.listen(listenedScore(id, `player ${score}`, score, newId(new Date(NOW_MS + index))));
    }
    expect(await loadSampledScores(h.database, id, 3)).toEqual({ scores: [2, 1, 3], isComplete: true });
    expect(await loadSampledScores(h.database, id, 2)).toEqual({ scores: [2, 1], isComplete: false });
  });

  it('the paid scores are the scores of settled paid attempts of this challenge only', async () => {
    const { id } = await s.open();
    const free = await h.player();
    await s.score(id, free.ref, 1);
    for (const score of [2, 3, 4]) await s.listen(listenedScore(id, `player ${score}`, score));
    expect(await loadPaidScores(h.database, id)).toEqual({ scores: [], isComplete: true });
    const player = await h.player();
    for (const score of [3, 2]) recorded(await h.report(created(await h.create(id, player.ref)).id, score));
    const { id: attemptId } = created(await h.create(id, player.ref));
    expectAccepted(await h.challenge.voidAttempt({ attemptId, reason: 'a test' }));
    created(await h.create(id, player.ref));
    await s.score((await h.open()).id, player.ref, 9);
    const paid = await loadPaidScores(h.database, id);
    expect({ ...paid, scores: ascending(paid.scores) }).toEqual({ scores: [2, 3], isComplete: true });
  });

  it('the paid scores are read only up to the limit', async () => {
    const { id } = await h.open();
    const [early, late] = [await h.player(), await h.player()];
    for (const score of [1, 2]) recorded(await h.report(created(await h.create(id, early.ref)).id, score));
    for (const score of [3, 4]) recorded(await h.report(created(await h.create(id, late.ref)).id, score));
    const [newest, other] =
      early.accountId > late.accountId
        ? [
            [1, 2],
            [3, 4],
          ]
        : [
            [3, 4],
            [1, 2],
          ];
    const read = async (limit: number) => {
      const { scores, isComplete } = await loadPaidScores(h.database, id, limit);
      return { scores: ascending(scores), isComplete };
    };
    expect(await read(2)).toEqual({ scores: newest, isComplete: false });
    expect(await read(3)).toMatchObject({ isComplete: false });
    expect(await read(4)).toEqual({ scores: ascending([...(newest ?? []), ...(other ?? [])]), isComplete: true });
  });
});
