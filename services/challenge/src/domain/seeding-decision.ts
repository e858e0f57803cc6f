/**
 * A partner seeds a calibrating challenge with percentiles of its players' scores
 * (docs/contract/partner-api.md, "POST /challenges/{id}/distribution"). The bar follows from them,
 * and the challenge goes live. The first of these that applies refuses it as `invalid_request`:
 *
 * 1. no such challenge, or another tenant's: both have the same message
 * 2. an invalid distribution, or one of too few scores
 * 3. a top_n challenge, whose bar follows from its scores
 * 4. a rung, which is derived from the rung below or calibrates
 * 5. a challenge that is not calibrating: live, suspended or closed
 * 6. a bar outside the plausible window: every accepted score would clear it, or none
 *
 * A seeding whose operation is known is checked right after the first rule: it gets its own result
 * again, whatever the challenge's state is now.
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
  /** How many scores the percentiles summarize. */
  readonly sampleSize: bigint;
};

/** The seeding that the operation has recorded before. */
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
