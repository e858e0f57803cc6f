/**
 * The signed record of a round's outcome: everything that is needed to decide a dispute again,
 * offline. The signature covers its RFC 8785 canonical JSON. The contract sets field names and
 * formats; money is a decimal string, instants have milliseconds.
 *
 * `tiebreak` is the reported value, even if the tournament declares none and ignored it; then
 * `tiebreak_metric_name` is null. The final rank is not known yet. The round's seal (seal.ts)
 * states it, and references this receipt by its hash.
 */

import { evidenceFields } from '@laurel/signature';
import { formatAmount } from '@laurel/values/money';
import type { Attempt, Outcome, Round, RoundTerms } from './tournament.ts';

/** The version is incremented when a field changes its meaning, not when a field is added. */
const RECEIPT_VERSION = 1;

/** What a receipt states about its round; all of it is frozen. */
export type ReceiptRound = Pick<Round, 'id' | 'tournamentId' | 'tenant'> & {
  readonly terms: Pick<RoundTerms, 'metricName' | 'metricUnit' | 'direction' | 'tiebreak'>;
};

export function composeReceipt(facts: {
  readonly attempt: Attempt;
  readonly round: ReceiptRound;
  readonly outcome: Outcome;
  /** The tiebreak as sent, even if ignored; null if none was sent. */
  readonly reportedTiebreak: number | null;
  /** A JSON object as text, or empty. */
  readonly evidence: string;
}): object {
  const { attempt, round, outcome } = facts;
  const { terms } = round;
  return {
    version: RECEIPT_VERSION,
    receipt_id: outcome.receiptId,
    program_id: round.tenant.programId,
    environment: round.tenant.environment,
    tournament_id: round.tournamentId,
    tournament_round_id: round.id,
    attempt_id: attempt.id,
    attempt_created_at: attempt.createdAt.toISOString(),
    player_ref: attempt.playerRef,
    fee_charged: formatAmount(attempt.feeCents),
    score: outcome.score,
    metric_name: terms.metricName,
    metric_unit: terms.metricUnit,
    threshold_direction: terms.direction,
    tiebreak: facts.reportedTiebreak,
    tiebreak_metric_name: terms.tiebreak?.metricName ?? null,
    tiebreak_direction: terms.tiebreak?.direction ?? null,
    threshold_applied: null,
    met_threshold: false,
    award: null,
    recorded_at: outcome.recordedAt.toISOString(),
    ...evidenceFields(facts.evidence),
  };
}
