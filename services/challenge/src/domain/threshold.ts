/**
 * Whether a score clears the bar. Reaching it is enough: a score equal to the threshold wins, in
 * the challenge's direction (docs/contract/rules.md, "Challenges"). `higher_is_better`: score >=
 * threshold. `lower_is_better`: score <= threshold. Without a bar no score clears it.
 */
import type { ThresholdDirection } from './challenge.ts';

export function clears(score: number, threshold: number | null, direction: ThresholdDirection): boolean {
  if (threshold === null) return false;
  return direction === 'higher_is_better' ? score >= threshold : score <= threshold;
}
