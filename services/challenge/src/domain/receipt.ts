/**
 * The signed record of an outcome: everything needed to decide a dispute again, offline. Its RFC
 * 8785 canonical JSON is signed. Field names and formats are the contract's; money is a decimal
 * string, instants have milliseconds.
 */

import { evidenceFields } from '@laurel/signature';
import { formatAmount } from '@laurel/values/money';
import type { AttemptTerms, Outcome } from './challenge.ts';
import type { AttemptInPlay } from './outcome-decision.ts';

/** The version is raised when a field changes its meaning, not when a field is added. */
const RECEIPT_VERSION = 1;

export function composeReceipt(facts: {
  readonly attempt: AttemptInPlay;
  readonly terms: AttemptTerms;
  readonly outcome: Outcome;
  readonly award: { readonly id: string } | null;
  /** A JSON object as text, or empty. */
  readonly evidence: string;
}): object {
  const { attempt, terms, outcome, award } = facts;
  return {
    version: RECEIPT_VERSION,
    receipt_id: outcome.receiptId,
    program_id: terms.tenant.programId,
    environment: terms.tenant.environment,
    challenge_id: attempt.challengeId,
    attempt_id: attempt.id,
    attempt_created_at: attempt.createdAt.toISOString(),
    player_ref: attempt.playerRef,
    fee_charged: formatAmount(attempt.feeCents),
    score: outcome.score,
    threshold_direction: terms.direction,
    threshold_applied: outcome.thresholdApplied,
    met_threshold: outcome.metThreshold,
    award: award === null ? null : { id: award.id, amount: formatAmount(attempt.prizeCents) },
    recorded_at: outcome.recordedAt.toISOString(),
    ...evidenceFields(facts.evidence),
  };
}
