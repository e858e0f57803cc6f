/**
 * Whether a score is inside the challenge's plausibility window: `score_min`, `score_max`, either
 * or both, bounds included. A missing bound refuses nothing.
 *
 * A score outside it is refused with `score_out_of_range` and disqualifies the attempt. The attempt
 * does not settle, any later report on it is refused the same way, and it expires and is refunded
 * at its deadline (docs/contract/partner-api.md, "POST /attempts/{attempt_id}/outcome").
 */

export function isPlausible(
  score: number,
  window: { readonly scoreMin: number | null; readonly scoreMax: number | null },
): boolean {
  if (window.scoreMin !== null && score < window.scoreMin) return false;
  return window.scoreMax === null || score <= window.scoreMax;
}
