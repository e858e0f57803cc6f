/**
 * The order of a board (docs/contract/partner-api.md, "GET
 * /tournaments/rounds/{round_id}/leaderboard", rule 4; docs/contract/rules.md, "Tournaments"):
 *
 * 1. The better score. The metric's direction says whether higher or lower is better.
 * 2. The better tiebreak; no tiebreak ranks after any value, in either direction.
 * 3. The earlier run.
 * 4. The entry id.
 *
 * The order is strict and total: no two entries share a rank. A player's best run is the first in
 * the same order, without the entry id.
 */
import { millisecondsBetween } from '@laurel/values/instant';
import type { Direction, RoundTerms, Run, Tiebreak } from './tournament.ts';

/** The terms that decide the order. */
export type BoardRules = Pick<RoundTerms, 'direction'> & { readonly tiebreak: Pick<Tiebreak, 'direction'> | null };

/** A row of the board: one entry with its best run. */
export type BoardRow = Run & { readonly entryId: string };

/** Compares two runs: below 0 if `one` is better, above 0 if it is worse, 0 if they are equal. */
export function compareRuns(one: Run, other: Run, rules: BoardRules): number {
  return (
    compareValues(one.score, other.score, rules.direction) ||
    compareTiebreaks(one.tiebreak, other.tiebreak, rules.tiebreak) ||
    millisecondsBetween(other.at, one.at)
  );
}

/** Compares two rows: below 0 if `one` ranks before `other`, 0 only for the same entry. */
export function compareRows(one: BoardRow, other: BoardRow, rules: BoardRules): number {
  // Ids are lower-case uuids, so their order as text is their order as bytes.
  return compareRuns(one, other, rules) || compareTexts(one.entryId, other.entryId);
}

/** Whether a run replaces the best one so far. An equal run does not. */
export function isBetterRun(run: Run, best: Run | null, rules: BoardRules): boolean {
  return best === null || compareRuns(run, best, rules) < 0;
}

/**
 * The tiebreak that the board counts; null if the tournament declares no tiebreak metric, even if
 * the report had a tiebreak.
 */
export function countedTiebreak(run: Pick<Run, 'tiebreak'>, rules: Pick<BoardRules, 'tiebreak'>): number | null {
  return rules.tiebreak === null ? null : run.tiebreak;
}

function compareTiebreaks(one: number | null, other: number | null, declared: BoardRules['tiebreak']): number {
  if (declared === null || (one === null && other === null)) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return compareValues(one, other, declared.direction);
}

/**
 * Compares instead of subtracting: the difference of two finite numbers may be infinite, or may
 * lose the smaller number.
 */
function compareValues(one: number, other: number, direction: Direction): number {
  if (one === other) return 0;
  return one > other === (direction === 'higher_is_better') ? -1 : 1;
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
