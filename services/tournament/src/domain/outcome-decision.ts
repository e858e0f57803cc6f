/**
 * What a reported score does to an attempt (docs/contract/partner-api.md, "POST
 * /attempts/{attempt_id}/outcome"; docs/contract/rules.md, "Tournaments"). The first that applies:
 *
 * 1. `not_found`: no such attempt, another tenant's, or one that was never created.
 * 2. `settled_before`: it has an outcome. The operation that recorded it gets the same outcome; any
 *    other operation is refused as `attempt_already_settled`.
 * 3. `unresolved`: its fee is not known to be posted yet. The caller asks the wallet and decides
 *    again.
 * 4. `attempt_already_settled`: an operator ended it, or it expired, at its deadline or earlier in
 *    the sandbox. The refusal stays the same when its round closes later.
 * 5. An attempt without an outcome ends at its deadline or at its round's close, whichever comes
 *    first. A later report is refused with the code of that end: `attempt_already_settled` or
 *    `round_closed`. The refusal is the same before and after the attempt's row is marked. `due`
 *    and `round_over` say that the row is not marked yet: the caller ends the attempt, which
 *    expires, and refunds its entry.
 * 6. `tiebreak_required`: the tournament declares a tiebreak metric and the report has none. The
 *    attempt stays open.
 * 7. It settles, and its run may become the best of its entry. No score alone wins: `met_threshold`
 *    is false.
 *
 * Any finite score is valid, also a negative or fractional one; -0 is 0. A tiebreak that the
 * tournament does not declare is ignored. A batch is decided in order: each report sees the effects
 * of the previous reports.
 */
import { canSettle, deadlineOf, isDue, isSameTenant, type ScoreReport, type Tenant } from '@laurel/attempts/domain';
import { type Refused, refused } from '@laurel/errors';
import { isBefore } from '@laurel/values/instant';
import { countedTiebreak } from './ranking.ts';
import { acceptsScores } from './round-status.ts';
import type { Attempt, Round, RoundTerms, Run } from './tournament.ts';

/**
 * The fields of a round that decide a report. The status and `closes_at` may change; read them
 * under the lock on the round's board.
 */
export type ScoringRound = Pick<Round, 'tenant' | 'status' | 'closesAt'> & {
  readonly terms: Pick<RoundTerms, 'tiebreak'>;
};

export type OutcomeReport = ScoreReport & {
  /** Null if the report had none. */
  readonly tiebreak: number | null;
};

export type OutcomeDecision =
  | { readonly kind: 'settled'; readonly run: Run }
  | { readonly kind: 'settled_before' }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'due' }
  | { readonly kind: 'round_over' }
  | Refused;

export function decideOutcome(facts: {
  readonly tenant: Tenant;
  readonly attempt: Attempt | null;
  readonly round: ScoringRound | null;
  readonly score: number;
  /** Null if the report had none. */
  readonly tiebreak: number | null;
  /** Whether the wallet is known to have posted the fee; the row may still be `pending`. */
  readonly feePosted: boolean;
  readonly ttlMs: number;
  readonly now: Date;
}): OutcomeDecision {
  const { attempt, round, now } = facts;
  if (attempt === null || round === null || !isSameTenant(round.tenant, facts.tenant)) return refused('not_found');
  if (attempt.status === 'refused') return refused('not_found');
  if (attempt.status === 'settled') return { kind: 'settled_before' };
  if (attempt.status === 'pending' && !facts.feePosted) return { kind: 'unresolved' };
  if (attempt.status === 'voiding' || attempt.status === 'voided') return refused('attempt_already_settled');
  if (isExpired(attempt)) return refused('attempt_already_settled');

  const endedBy = attemptEndedBy(attempt, round, facts);
  if (!canSettle(attempt.status, facts.feePosted)) {
    return refused(endedBy === 'round' ? 'round_closed' : 'attempt_already_settled');
  }
  if (endedBy !== null) return { kind: endedBy === 'round' ? 'round_over' : 'due' };

  const tiebreak = countedTiebreak(facts, round.terms);
  if (round.terms.tiebreak !== null && tiebreak === null) return refused('tiebreak_required');
  // Adding 0 turns -0 into 0 and changes no other number.
  return {
    kind: 'settled',
    run: { score: facts.score + 0, tiebreak: tiebreak === null ? null : tiebreak + 0, at: now },
  };
}

/** The decision on one report of a batch. `found` is the attempt that the report settles. */
export type ReportDecision<Found> =
  | (Extract<OutcomeDecision, { readonly kind: 'settled' }> & { readonly report: OutcomeReport; readonly found: Found })
  | Exclude<OutcomeDecision, { readonly kind: 'settled' }>;

/** One decision per report, in order. In this service no attempt settles from `pending`. */
export function decideOutcomes<Found extends { readonly attempt: Attempt; readonly round: ScoringRound }>(
  batch: readonly OutcomeReport[],
  /** The attempts before the batch. */
  before: ReadonlyMap<string, Found>,
  rules: { readonly ttlMs: number; readonly now: Date },
): readonly ReportDecision<Found>[] {
  const current = new Map(before);
  return batch.map((report) => {
    const found = current.get(report.attemptId) ?? null;
    const { tenant, score, tiebreak } = report;
    const { attempt = null, round = null } = found ?? {};
    const decision = decideOutcome({ tenant, attempt, round, score, tiebreak, feePosted: false, ...rules });
    if (decision.kind !== 'settled') return decision;
    if (found === null) throw new Error(`attempt ${report.attemptId} settles but was not found`);
    current.set(report.attemptId, { ...found, attempt: { ...found.attempt, status: 'settled' } });
    return { ...decision, report, found };
  });
}

/** Whether the attempt expired by itself, not with its round. */
function isExpired({ status, closedReason }: Attempt): boolean {
  return (status === 'expiring' || status === 'expired') && closedReason === null;
}

/**
 * What has ended an attempt without an outcome by now, if anything: its deadline, unless the round
 * closed first.
 */
export function attemptEndedBy(
  attempt: Pick<Attempt, 'createdAt'>,
  round: Pick<Round, 'status' | 'closesAt'>,
  { ttlMs, now }: { readonly ttlMs: number; readonly now: Date },
): 'hour' | 'round' | null {
  const isHourOver = isDue(attempt.createdAt, ttlMs, now);
  if (acceptsScores(round, now)) return isHourOver ? 'hour' : null;
  return isHourOver && !isBefore(round.closesAt, deadlineOf(attempt.createdAt, ttlMs)) ? 'hour' : 'round';
}
