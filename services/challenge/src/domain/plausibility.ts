/**
 * Whether a score is inside the challenge's plausibility window, bounds included: at least
 * `score_min` and at most `score_max`, as far as the challenge has them.
 *
 * A score outside the window is refused with `score_out_of_range` and disqualifies the attempt. The
 * attempt does not settle, and any later report on it is refused the same way. At its deadline it
 * expires, and its fee is refunded (docs/contract/partner-api.md, "POST
 * /attempts/{attempt_id}/outcome").
 */

export function isPlausible(
  score: number,
  window: { readonly scoreMin: number | null; readonly scoreMax: number | null },
): boolean {
  if (window.scoreMin !== null && score < window.scoreMin) return false;
  return window.scoreMax === null || score <= window.scoreMax;
}
