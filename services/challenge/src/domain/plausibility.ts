/**
 * A challenge may declare a plausibility window: `score_min`, `score_max`, either or both, bounds included. A score outside it is refused
 * with `score_out_of_range` and disqualifies the attempt: it does not settle, any later report on it gets the same answer, and it expires
 * and is refunded at its deadline (docs/contract/partner-api.md, "POST /attempts/{attempt_id}/outcome"). Without a bound nothing is
 * refused.
 */

export function isPlausible(
  score: number,
  window: { readonly scoreMin: number | null; readonly scoreMax: number | null },
): boolean {
  if (window.scoreMin !== null && score < window.scoreMin) return false;
  return window.scoreMax === null || score <= window.scoreMax;
}
