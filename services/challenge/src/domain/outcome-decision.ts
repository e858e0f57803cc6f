/**
 * What a reported score does to an attempt (partner API, "POST /attempts/{attempt_id}/outcome"; decisions, "Challenges"). In this order:
 *
 * 1. `not_found`: no such attempt, another tenant's, or one that never came to be.
 * 2. `unresolved`: its fee is not known to be posted yet. Ask the wallet and decide again.
 * 3. `settled_before`: it has an outcome. The operation that recorded it gets the same answer; any other `attempt_already_settled`.
 * 4. `attempt_already_settled`: it ended without an outcome, or its hour has passed (`isDue` then says that nobody has marked it yet).
 * 5. `score_out_of_range`: a score outside the plausible window spoils the attempt; a spoiled attempt refuses every later report.
 * 6. It settles. `metThreshold` by the bar that was frozen on the attempt; clearing it makes a claim to the frozen prize. Of one
 *    account's claims to one challenge the first takes the prize, the others have `met_threshold: true` and no award.
 */
import { canSettle, isDue } from '@laurel/attempt';
import { type Refused, refused } from '@laurel/errors';
import { isSameTenant, type Tenant } from '@laurel/money-path/domain';
import type { Attempt, AttemptTerms } from './challenge.ts';
import { isPlausible } from './plausibility.ts';
import { clears } from './threshold.ts';

/** What of an attempt its outcome is decided on and its receipt tells. */
export type AttemptInPlay = Omit<Attempt, 'metadata'>;

export type OutcomeDecision =
  | { readonly kind: 'settled'; readonly metThreshold: boolean; readonly claimsPrize: boolean }
  | { readonly kind: 'settled_before' }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'spoiled' }
  | { readonly kind: 'due' }
  | Refused;

export function decideOutcome(facts: {
  readonly tenant: Tenant;
  readonly attempt: AttemptInPlay | null;
  readonly terms: AttemptTerms | null;
  readonly score: number;
  /** The wallet is known to have posted the fee, though the attempt may still say `pending`. */
  readonly feePosted: boolean;
  readonly ttlMs: number;
  readonly now: Date;
}): OutcomeDecision {
  const { attempt, terms, score } = facts;
  if (attempt === null || terms === null || !isSameTenant(terms.tenant, facts.tenant)) return refused('not_found');
  if (attempt.status === 'refused') return refused('not_found');
  if (attempt.status === 'settled') return { kind: 'settled_before' };
  if (attempt.status === 'pending' && !facts.feePosted) return { kind: 'unresolved' };
  if (!canSettle(attempt.status, facts.feePosted)) return refused('attempt_already_settled');
  if (isDue(attempt.createdAt, facts.ttlMs, facts.now)) return { kind: 'due' };
  if (attempt.spoiledAt !== null) return refused('score_out_of_range');
  if (!isPlausible(score, terms)) return { kind: 'spoiled' };

  const metThreshold = clears(score, attempt.threshold, terms.direction);
  return { kind: 'settled', metThreshold, claimsPrize: metThreshold && attempt.prizeCents > 0n };
}
