/**
 * The order of a board (docs/contract/partner-api.md, "GET /tournaments/rounds/{round_id}/leaderboard", rule 4; docs/contract/rules.md,
 * "Tournaments"): better score; then better tiebreak, where none ranks
 * worse than any value, in either direction; then the earlier run; then entry id. Better is more or less, by the direction of the metric.
 * It is a strict total order, so that no two entries ever share a rank.
 *
 * A player's best run counts: the same order without the entry id.
 */
import { millisecondsBetween } from '@laurel/instant';
import type { Direction, RoundTerms, Run } from './tournament.ts';

/** The terms that the order depends on. */
export type BoardRules = Pick<RoundTerms, 'direction' | 'tiebreak'>;

/** A row of the board: one entry with its best run. */
export type BoardRow = Run & { readonly entryId: string };

/** Below 0 when `one` is the better run, above 0 when it is the worse, 0 when they are equal. */
export function compareRuns(one: Run, other: Run, rules: BoardRules): number {
  return (
    compareValues(one.score, other.score, rules.direction) ||
    compareTiebreaks(one.tiebreak, other.tiebreak, rules.tiebreak) ||
    millisecondsBetween(other.at, one.at)
  );
}

/** Below 0 when `one` ranks before `other`; 0 only for the same entry. */
export function compareRows(one: BoardRow, other: BoardRow, rules: BoardRules): number {
  // Ids are lower-case uuids, whose order as text is their order as bytes.
  return compareRuns(one, other, rules) || compareTexts(one.entryId, other.entryId);
}

/** Whether a run replaces the best one so far. An equal run does not. */
export function isBetterRun(run: Run, best: Run | null, rules: BoardRules): boolean {
  return best === null || compareRuns(run, best, rules) < 0;
}

/** The tiebreak that the board counts: without a declared metric there is none, whatever was sent. */
export function countedTiebreak(run: Pick<Run, 'tiebreak'>, rules: Pick<BoardRules, 'tiebreak'>): number | null {
  return rules.tiebreak === null ? null : run.tiebreak;
}

function compareTiebreaks(one: number | null, other: number | null, declared: BoardRules['tiebreak']): number {
  if (declared === null || (one === null && other === null)) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return compareValues(one, other, declared.direction);
}

/** By comparison and not by difference: the difference of two finite numbers may be infinite or lose the smaller one. */
function compareValues(one: number, other: number, direction: Direction): number {
  if (one === other) return 0;
  return one > other === (direction === 'higher_is_better') ? -1 : 1;
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
