/**
 * Derives the bar of a rung that is created live without a threshold: the quantile of the ladder's
 * scores at the rung's target pass rate, by the rules that set the bar of the rung below. The
 * scores are final once the parent has its bar, so this takes no locks.
 */
import type { Queryable } from '@laurel/postgres';
import { barFromPercentiles, rankOfBar } from '../domain/calibration.ts';
import type { Challenge, ChallengeTerms } from '../domain/challenge.ts';
import { loadKthBest } from '../repository/bar-samples.ts';
import { findLadderScores } from '../repository/ladder-scores.ts';

/** Returns the bar of a rung from the scores of its ladder; null if the ladder has no scores. */
export async function deriveBar(
  on: Queryable,
  { parent, terms }: { readonly parent: Challenge; readonly terms: ChallengeTerms },
): Promise<number | null> {
  const { targetPassRate, direction } = terms;
  const scores = await findLadderScores(on, parent.id);
  if (scores === null) return null;
  if (scores.kind === 'percentiles') return barFromPercentiles(scores.distribution, targetPassRate, direction);
  const { challengeId, samples } = scores;
  return await loadKthBest(on, challengeId, { k: rankOfBar(samples, targetPassRate), sampleCount: samples, direction });
}
