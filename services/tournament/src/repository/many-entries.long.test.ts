import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Round } from '../domain/tournament.ts';
import { findCursorAtRank, loadStandings, loadWindow } from './board.ts';
import { findEntryOfRef } from './entries.ts';
import { type Harness, HOUR_MS, NOW, startHarness } from './repository.fixture.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

const LATER = new Date(NOW.getTime() + HOUR_MS);

describe('a round of a hundred thousand entries', () => {
  const ENTRIES = 100_000;
  const TIME_LIMIT_MS = 20_000;
  const WINDOWS = 100;
  let round: Round;

  beforeAll(async () => {
    round = await h.openRound({ direction: 'lower_is_better' });
    await h.fill(round, ENTRIES);
  });

  it('a round of a hundred thousand entries computes a rank without counting the board', async () => {
    const player = { accountId: newId(), playerRef: 'late' };
    const [attempt] = await h.enter(round, [player]);
    if (attempt === undefined) throw new Error('no attempt');
    await h.report([{ attemptId: attempt.id, score: 0.001 }], LATER);
    const better = { text: 'select count(*)::int as better from entries where round_id = $1 and best_score < 0.001' };
    const [counted] = await h.database.query<{ better: number }>(better, [round.id]);
    const startedAt = performance.now();
    for (let time = 0; time < WINDOWS; time += 1) {
      expect((await loadWindow(h.database, round.id, attempt.entryId))?.ownRank).toBe((counted?.better ?? 0) + 1);
      expect((await findEntryOfRef(h.database, round.id, player.playerRef))?.id).toBe(attempt.entryId);
    }
    // A rank takes half a millisecond; a scan of the round would take a hundred.
    expect(performance.now() - startedAt).toBeLessThan(WINDOWS * 20);
  });

  it('a round of a hundred thousand entries finds a page without reading the pages before it', async () => {
    const startedAt = performance.now();
    for (let time = 0; time < WINDOWS; time += 1) {
      const rank = ENTRIES - 200 - time;
      const after = await findCursorAtRank(h.database, round.id, rank);
      const page = await loadStandings(h.database, round.id, after, 2);
      expect(page.map((row) => row.rank)).toEqual([rank + 1, rank + 2]);
    }
    expect(performance.now() - startedAt).toBeLessThan(WINDOWS * 20);
  });

  it('a round of a hundred thousand entries is decided within seconds', async () => {
    const startedAt = performance.now();
    await h.close(round.id);
    expect(performance.now() - startedAt).toBeLessThan(TIME_LIMIT_MS);
    expect((await loadStandings(h.database, round.id, null, 1))[0]?.standing.finalRank).toBe(1);
  });

  it('a round of a hundred thousand entries keeps every invariant', async () => {
    expect(await h.violations()).toEqual([]);
  });
});
