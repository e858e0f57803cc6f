/** Compares the board with a sorted array. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryIdOf } from '../domain/entry-decision.ts';
import { compareRows, isBetterRun } from '../domain/ranking.ts';
import type { BestRun, Direction, Round, TournamentTerms } from '../domain/tournament.ts';
import { type BoardCursor, findCursorAtRank, loadStandings, loadWindow } from './board.ts';
import { type Harness, NOW, type Player, playersOf, startHarness } from './repository.fixture.ts';
import { findRound } from './rounds.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

/** The expected board. */
type Model = { readonly round: Round; readonly best: Map<string, BestRun>; readonly scored: Map<string, number> };

type ModelRow = { readonly entryId: string; readonly best: BestRun; readonly paidAttempts: number };

function rowsOf({ round, best, scored }: Model): readonly ModelRow[] {
  return [...best]
    .map(([entryId, run]) => ({ entryId, best: run, paidAttempts: scored.get(entryId) ?? 0 }))
    .sort((one, other) =>
      compareRows({ ...one.best, entryId: one.entryId }, { ...other.best, entryId: other.entryId }, round.terms),
    );
}

async function tableOf(roundId: string, limit: number): Promise<readonly (ModelRow & { readonly rank: number })[]> {
  const rows: (ModelRow & { readonly rank: number })[] = [];
  let after: BoardCursor | null = null;
  for (;;) {
    const page = await loadStandings(h.database, roundId, after, limit);
    for (const { rank, standing } of page) {
      const { entryId, best, paidAttempts } = standing;
      rows.push({ rank, entryId, best, paidAttempts });
    }
    after = page.at(-1)?.cursor ?? null;
    if (after !== null) expect(await findCursorAtRank(h.database, roundId, rows.length)).toEqual(after);
    if (page.length < limit || after === null) {
      expect(await findCursorAtRank(h.database, roundId, rows.length + 1)).toBeNull();
      return rows;
    }
  }
}

async function chunksOf(roundId: string): Promise<readonly number[]> {
  const text = 'select entries from board_chunks where round_id = $1 order by lower_sort_key';
  return (await h.database.query<{ entries: number }>({ text }, [roundId])).map(({ entries }) => entries);
}

const direction = fc.constantFrom<Direction>('higher_is_better', 'lower_is_better');
const terms: fc.Arbitrary<Partial<TournamentTerms>> = fc.record({
  direction,
  tiebreak: fc.option(fc.record({ metricName: fc.constant<string>('seconds'), direction }), { nil: null }),
});
/** Few rounds, players and scores, so that runs meet, tie and share chunks. */
const report = fc.record({
  round: fc.nat(2),
  player: fc.nat(29),
  score: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-0, 0.5, 1e300, -1e300)),
  tiebreak: fc.option(fc.integer({ min: -1, max: 1 }), { freq: 3 }),
});
const play = fc.record({
  rounds: fc.array(terms, { minLength: 3, maxLength: 3 }),
  batches: fc.array(fc.array(report, { minLength: 1, maxLength: 25 }), { minLength: 1, maxLength: 8 }),
  pageSize: fc.integer({ min: 1, max: 7 }),
});

describe('a board', () => {
  it('a board equals the sorted list of best runs after any batches', async () => {
    const players = playersOf(30);
    const chunkEntries = 4;
    await fc.assert(
      fc.asyncProperty(play, async ({ rounds, batches, pageSize }) => {
        const models = await Promise.all(
          rounds.map(async (changes): Promise<Model> => {
            return { round: await h.openRound(changes), best: new Map(), scored: new Map() };
          }),
        );
        for (const [index, batch] of batches.entries()) {
          const now = new Date(NOW.getTime() + index);
          const parts = batch.map((part) => ({ ...part, ...pick(models, players, part) }));
          const reports = [];
          for (const { model, player, score, tiebreak } of parts) {
            const [attempt] = await h.begin(model.round, [player]);
            if (attempt === undefined) throw new Error('no attempt');
            reports.push({ attemptId: attempt.id, score, tiebreak });
            const run: BestRun = {
              attemptId: attempt.id,
              score: score + 0,
              tiebreak: model.round.terms.tiebreak === null ? null : tiebreak,
              at: now,
              playerRef: player.playerRef,
            };
            const before = model.best.get(attempt.entryId) ?? null;
            if (isBetterRun(run, before, model.round.terms)) model.best.set(attempt.entryId, run);
            model.scored.set(attempt.entryId, (model.scored.get(attempt.entryId) ?? 0) + 1);
          }
          await h.open(reports.map(({ attemptId }) => ({ id: attemptId })));
          await h.report(reports, now, { chunkEntries });
        }

        for (const model of models) {
          const { id } = model.round;
          const rows = rowsOf(model);
          const ranked = rows.map((row, index) => ({ rank: index + 1, ...row }));
          expect(await tableOf(id, pageSize)).toEqual(ranked);
          for (const [index, row] of rows.entries()) {
            const window = await loadWindow(h.database, id, row.entryId);
            expect([window?.above?.entryId, window?.own.entryId, window?.below?.entryId, window?.ownRank]).toEqual([
              rows[index - 1]?.entryId,
              row.entryId,
              rows[index + 1]?.entryId,
              index + 1,
            ]);
          }
          const chunks = await chunksOf(id);
          expect(chunks.reduce((sum, entries) => sum + entries, 0)).toBe(rows.length);
          expect(Math.max(...chunks)).toBeLessThanOrEqual(chunkEntries);
          expect((await findRound(h.database, id))?.tally).toEqual({
            entrants: model.scored.size,
            scoredPlayers: rows.length,
            scoredAttempts: [...model.scored.values()].reduce((sum, scored) => sum + scored, 0),
          });
        }
      }),
      { numRuns: 40 },
    );
    expect(await h.violations()).toEqual([]);
  }, 120_000);

  it('a board stays exact while batches for the same players and rounds race', async () => {
    const rounds = await Promise.all([h.openRound(), h.openRound(), h.openRound()]);
    const players = playersOf(12);
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const lanes = Array.from({ length: 6 }, async () => {
      for (let batch = 0; batch < 15; batch += 1) {
        const attempts = [];
        for (const round of rounds) {
          const some = players.filter(() => random(3) === 0);
          attempts.push(...(await h.begin(round, some)));
        }
        if (attempts.length === 0) continue;
        const shuffled = attempts.toSorted(() => random(3) - 1);
        await h.open(shuffled);
        const reports = shuffled.map(({ id }) => ({ attemptId: id, score: random(50) }));
        await h.report(reports, new Date(NOW.getTime() + random(1_000)), { chunkEntries: 4 });
      }
    });
    await Promise.all(lanes);
    expect(await h.violations()).toEqual([]);
    for (const { id } of rounds) expect((await tableOf(id, 5)).length).toBe(players.length);
  });

  it('a board has no row for an entry without a run', async () => {
    const round = await h.openRound();
    const [one, other] = playersOf(2) as [Player, Player];
    const [played] = await h.enter(round, [one, other]);
    if (played === undefined) throw new Error('no attempt');
    expect(await loadWindow(h.database, round.id, entryIdOf(round.id, other.accountId))).toBeNull();
    expect(await loadStandings(h.database, round.id, null, 10)).toEqual([]);
    await h.report([{ attemptId: played.id, score: 7 }]);
    expect(await loadWindow(h.database, round.id, played.entryId)).toEqual({
      roundStatus: 'open',
      tally: { entrants: 2, scoredPlayers: 1, scoredAttempts: 1 },
      ownRank: 1,
      above: null,
      own: {
        entryId: played.entryId,
        accountId: one.accountId,
        best: { attemptId: played.id, score: 7, tiebreak: null, at: NOW, playerRef: one.playerRef },
        paidAttempts: 1,
        finalRank: null,
        payoutCents: null,
        awardStatus: null,
      },
      below: null,
    });
    expect(await loadWindow(h.database, (await h.openRound()).id, played.entryId)).toBeNull();
  });
});

function pick(
  models: readonly Model[],
  players: readonly Player[],
  { round, player }: { readonly round: number; readonly player: number },
): { readonly model: Model; readonly player: Player } {
  const [model, chosen] = [models[round], players[player]];
  if (model === undefined || chosen === undefined) throw new Error('out of range');
  return { model, player: chosen };
}
