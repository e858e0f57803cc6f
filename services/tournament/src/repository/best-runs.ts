/** The changes to the boards that the settled runs of a batch make. */
import { sortKeyOf } from '../domain/board-sort-key.ts';
import { type BoardRules, isBetterRun } from '../domain/ranking.ts';
import type { BestRun } from '../domain/tournament.ts';
import type { EntryOnBoard } from './attempts.ts';
import type { BestRunChange, ScoresOfBatch } from './board.ts';

/** A run that settles, and its entry before the batch. */
export type SettledRun = {
  readonly entry: EntryOnBoard;
  readonly rules: BoardRules;
  readonly run: BestRun;
};

/**
 * In the order of the batch: each run is compared with the best of its entry so far, earlier runs
 * of the batch included.
 */
export function scoresOf(runs: readonly SettledRun[]): ScoresOfBatch {
  const changes = new Map<string, BestRunChange>();
  for (const { entry, rules, run } of runs) {
    const best = changes.get(entry.id)?.best ?? entry.best;
    if (!isBetterRun(run, best, rules)) continue;
    const newSortKey = sortKeyOf({ ...run, entryId: entry.id }, rules);
    changes.set(entry.id, {
      roundId: entry.roundId,
      entryId: entry.id,
      best: run,
      oldSortKey: entry.sortKey,
      newSortKey,
    });
  }
  return { scoredIn: runs.map(({ entry }) => entry.roundId), changes: [...changes.values()] };
}
