/**
 * A partner seeds a calibrating challenge with percentiles of its players' scores (docs/contract/partner-api.md,
 * "POST /challenges/{id}/distribution"): the bar follows from them, and the challenge goes live. What the challenge cannot be seeded for is
 * `invalid_request`, in this order:
 *
 * 1. no such challenge, or another tenant's: with the same words
 * 2. a distribution that is none, or of too few scores
 * 3. a top_n challenge: its bar follows from its scores
 * 4. a rung: it is derived from the rung below, or calibrates
 * 5. not calibrating: live, suspended or closed
 * 6. a bar outside the plausible window: every score that is accepted would clear it, or none
 *
 * A seeding that is known by its operation comes before all but the first: it is answered as itself, whatever became of the challenge.
 */
import { isSameTenant, type Tenant } from '@laurel/attempts/domain';
import { type Refused, refused } from '@laurel/errors';
import { barFromPercentiles, type Distribution, issuesOfDistribution } from './calibration.ts';
import type { Challenge } from './challenge.ts';
import { isPlausible } from './plausibility.ts';

export type Seeding = {
  readonly tenant: Tenant;
  readonly challengeId: string;
  readonly distribution: Distribution;
  /** How many scores the percentiles were taken of. */
  readonly sampleSize: bigint;
};

/** What was seeded before by the operation. */
type Seeded = { readonly challengeId: string; readonly threshold: number; readonly sampleSize: bigint };

export type SeedingDecision =
  | { readonly kind: 'seeded' | 'repeated'; readonly threshold: number; readonly sampleSize: bigint }
  | Refused;

export function decideSeeding(
  seeding: Seeding,
  { challenge, known }: { readonly challenge: Challenge | null; readonly known: Seeded | null },
): SeedingDecision {
  const { distribution, sampleSize } = seeding;
  if (challenge === null || !isSameTenant(challenge.tenant, seeding.tenant)) {
    return invalid('There is no such challenge in this program and environment.');
  }
  if (known !== null) {
    if (known.challengeId !== challenge.id) return invalid('The operation has seeded another challenge.');
    return { kind: 'repeated', threshold: known.threshold, sampleSize: known.sampleSize };
  }

  const [issue] = issuesOfDistribution(distribution, Number(sampleSize));
  if (issue !== undefined) return invalid(`${issue}.`);
  const { terms } = challenge;
  if (terms.prizeStructure === 'top_n') return invalid('A top_n challenge takes its bar from its own scores.');
  if (challenge.rung > 1) return invalid('A rung of a ladder cannot be seeded.');
  if (challenge.status !== 'calibrating') return invalid('The challenge is not calibrating.');

  const threshold = barFromPercentiles(distribution, terms.targetPassRate, terms.direction);
  if (!isPlausible(threshold, terms))
    return invalid('The bar would lie outside the scores that the challenge accepts.');
  return { kind: 'seeded', threshold, sampleSize };
}

function invalid(sentence: string): Refused {
  return refused('invalid_request', sentence);
}
