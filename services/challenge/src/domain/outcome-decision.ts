/**
 * What a reported score does to an attempt (docs/contract/partner-api.md, "POST
 * /attempts/{attempt_id}/outcome"; docs/contract/rules.md, "Challenges"). The first rule that
 * applies decides:
 *
 * 1. `not_found`: no such attempt, another tenant's, or one that was never created.
 * 2. `unresolved`: its fee is not known to be posted yet. The caller asks the wallet and decides
 *    again.
 * 3. `settled_before`: it has an outcome. The report that recorded it gets the same result; any
 *    other report gets `attempt_already_settled`.
 * 4. `attempt_already_settled`: it ended without an outcome, or its deadline has passed (`isDue` is
 *    then true if its row is not marked yet).
 * 5. `score_out_of_range`: a score outside the plausible window disqualifies the attempt; a
 *    disqualified attempt refuses every later report.
 * 6. It settles. The bar that was frozen on the attempt decides `metThreshold`, and clearing it
 *    claims the frozen prize. If an account has several claims to a challenge, the first wins the
 *    prize; the others have `met_threshold: true` and no award.
 *
 * In live the score of a free attempt is a sample only if the account may play for money. If the
 * report does not yet state what the wallet said about the player, the decision is
 * `ask_eligibility`: the caller asks the wallet and decides again.
 *
 * An operation that has settled another attempt neither settles nor disqualifies this one: its
 * report gets `attempt_already_settled`.
 *
 * A batch is decided in order, and each report sees the effects of the reports before it. Most
 * reports are the batch's only report on an attempt that the process has cached:
 * `decideCachedOutcomes` decides them on the cache, and the optimistic write checks the cache
 * against the database.
 */
import { canSettle, isDue, isSameTenant, type ScoreReport, type Tenant } from '@laurel/attempts/domain';
import { type Refused, refused } from '@laurel/errors';
import type { Attempt, AttemptTerms } from './challenge.ts';
import { countsForBar } from './current-bar.ts';
import { isPlausible } from './plausibility.ts';
import { needsEligibility, type PlayerEligibility } from './sample-player.ts';
import { clears } from './threshold.ts';

/** The fields of an attempt on which its outcome is decided and which its receipt states. */
export type AttemptInPlay = Omit<Attempt, 'metadata'>;

export type OutcomeReport = ScoreReport & {
  /**
   * The eligibility of the player of a free attempt in live, once the wallet was asked; absent
   * before.
   */
  readonly eligibility?: PlayerEligibility;
};

/** The facts on which a report is decided: the attempt, and what it takes from its challenge. */
export type ReportedAttempt = { readonly attempt: AttemptInPlay; readonly terms: AttemptTerms };

export type OutcomeDecision =
  | { readonly kind: 'settled'; readonly metThreshold: boolean; readonly claimsPrize: boolean }
  | { readonly kind: 'settled_before' }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'disqualified' }
  | { readonly kind: 'due' }
  | Refused;

export function decideOutcome(facts: {
  readonly tenant: Tenant;
  readonly attempt: AttemptInPlay | null;
  readonly terms: AttemptTerms | null;
  readonly score: number;
  /** Whether the wallet is known to have posted the fee; the row may still be `pending`. */
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
  if (attempt.disqualifiedAt !== null) return refused('score_out_of_range');
  if (!isPlausible(score, terms)) return { kind: 'disqualified' };

  const metThreshold = clears(score, attempt.threshold, terms.direction);
  return { kind: 'settled', metThreshold, claimsPrize: metThreshold && attempt.prizeCents > 0n };
}

/** A report that settles its attempt. */
export type SettlingReport = Extract<OutcomeDecision, { readonly kind: 'settled' }> & {
  readonly report: OutcomeReport;
  readonly found: ReportedAttempt;
};

/** The decision on one report of a batch. */
export type ReportDecision =
  | SettlingReport
  | (Extract<OutcomeDecision, { readonly kind: 'disqualified' }> & { readonly attemptId: string })
  | { readonly kind: 'ask_eligibility'; readonly challengeId: string; readonly playerRef: string }
  | Exclude<OutcomeDecision, { readonly kind: 'settled' | 'disqualified' }>;

type Rules = { readonly ttlMs: number; readonly now: Date };

/** Returns one decision per report, in order. */
export function decideOutcomes(
  batch: readonly {
    readonly report: OutcomeReport;
    /** The attempt before the batch; null if there is none. */
    readonly found: ReportedAttempt | null;
    readonly feePosted: boolean;
    /** The attempt that the report's operation settled before the batch; null for none. */
    readonly settledByOperation: string | null;
  }[],
  rules: Rules,
): readonly ReportDecision[] {
  const changed = new Map<string, ReportedAttempt>();
  const settledInBatch = new Map<string, string>();
  return batch.map(({ report, found: before, feePosted, settledByOperation }) => {
    const found = changed.get(report.attemptId) ?? before;
    const { tenant, score } = report;
    const { attempt = null, terms = null } = found ?? {};
    const decision = decideOutcome({ tenant, attempt, terms, score, feePosted, ...rules });
    if (decision.kind !== 'settled' && decision.kind !== 'disqualified') return decision;
    if (found === null) throw new Error(`attempt ${report.attemptId} is ${decision.kind} and was not found`);
    const settledBySame = settledInBatch.get(report.operationId) ?? settledByOperation ?? report.attemptId;
    if (settledBySame !== report.attemptId) return refused('attempt_already_settled');
    if (decision.kind === 'disqualified') {
      changed.set(report.attemptId, {
        ...found,
        attempt: { ...found.attempt, status: 'open', disqualifiedAt: rules.now },
      });
      return { ...decision, attemptId: report.attemptId };
    }
    if (needsEligibility(found) && report.eligibility === undefined) {
      const { challengeId, playerRef } = found.attempt;
      return { kind: 'ask_eligibility', challengeId, playerRef };
    }
    changed.set(report.attemptId, { ...found, attempt: { ...found.attempt, status: 'settled' } });
    settledInBatch.set(report.operationId, report.attemptId);
    return { ...decision, report, found };
  });
}

/**
 * The reports that settle if their attempts are still as cached (null if the attempt is not cached)
 * and their prizes are not yet claimed; null for every other report. At most one report per
 * attempt, and one claim per account and challenge: the others can be decided only once the first
 * is recorded. A score that counts for the bar is never among them, because it changes more than
 * its attempt.
 */
export function decideCachedOutcomes(
  batch: readonly { readonly report: OutcomeReport; readonly found: ReportedAttempt | null }[],
  rules: Rules,
): readonly (SettlingReport | null)[] {
  const attempts = new Set<string>();
  const prizes = new Set<string>();
  return batch.map(({ report, found }) => {
    if (attempts.has(report.attemptId)) return null;
    attempts.add(report.attemptId);
    if (found === null || countsForBar(found)) return null;
    // Only attempts whose fee is posted are cached.
    const decision = decideOutcome({ ...report, ...found, feePosted: true, ...rules });
    if (decision.kind !== 'settled') return null;
    if (decision.claimsPrize) {
      const prize = `${found.attempt.challengeId}:${found.attempt.accountId}`;
      if (prizes.has(prize)) return null;
      prizes.add(prize);
    }
    return { ...decision, report, found };
  });
}
