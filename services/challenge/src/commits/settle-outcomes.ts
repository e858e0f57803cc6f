/**
 * The commit of ReportOutcomes, for many reports at once. It settles the attempts, claims the
 * prizes, and writes each outcome with its signed receipt and its event. If an outcome won a prize,
 * the commit that records the wallet's decision on the award emits the event
 * (libs/attempts/src/steps/pay-awards.ts), because the event states the outcome and the decision.
 *
 * A report on an attempt that this process opened is decided on the cache. One statement settles
 * the attempt, and takes effect only if all cached facts still hold (settle-cached-outcomes.ts).
 * Reports that the statement skips, and all other reports, are decided under the lock on the
 * attempt's row (settle-locked-outcomes.ts).
 *
 * In live the score of a free attempt is a sample only if the account may play for money
 * (domain/sample-player.ts). So a report on a free attempt asks the wallet first, and fails while
 * the wallet cannot be reached. A report on a paid attempt does not ask.
 */
import { createCommitBatches, type Settlement as ReportSettlement, type Wallet } from '@laurel/attempts';
import { isSameTenant, isVisible } from '@laurel/attempts/domain';
import { type Coalescer, runOptimisticBatch } from '@laurel/coalesce';
import { isRefused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { receiptIdOf } from '@laurel/values/ids';
import type { OutcomeReport } from '../domain/outcome-decision.ts';
import { requirementOf } from '../domain/requirement.ts';
import { type AttemptWithTerms, findArchivedAttempt } from '../repository/attempts.ts';
import { findChallenge } from '../repository/challenges.ts';
import type { OutcomeCommitDeps, ReportWithFeeState, Settlement } from './outcome-draft.ts';
import { settleCachedOutcomes } from './settle-cached-outcomes.ts';
import { settleLockedOutcomes } from './settle-locked-outcomes.ts';

export type OutcomeSettlementBatches = Coalescer<ReportWithFeeState, Settlement>;

export function createOutcomeSettlementBatches(deps: OutcomeCommitDeps): OutcomeSettlementBatches {
  return createCommitBatches<ReportWithFeeState, Settlement>({
    name: 'report-outcomes',
    environmentOf: ({ tenant }) => tenant.environment,
    commit: (batch) =>
      runOptimisticBatch<ReportWithFeeState, Settlement>(batch, {
        optimistic: (reports) => settleCachedOutcomes(reports, deps),
        underLock: (reports) => settleLockedOutcomes(reports, deps),
      }),
  });
}

function settlementOfArchived(report: OutcomeReport, { attempt, terms }: AttemptWithTerms): ReportSettlement {
  if (!isSameTenant(terms.tenant, report.tenant) || !isVisible(attempt.status)) return refused('not_found');
  return attempt.status === 'settled'
    ? { kind: 'settled_before', receiptId: receiptIdOf(report.operationId) }
    : refused('attempt_already_settled');
}

/**
 * Settles the attempt of one report. For a free attempt in live it first asks the wallet about the
 * player. A report on an archived attempt gets the same result as before the attempt was archived.
 */
export async function settleOutcome(
  report: ReportWithFeeState,
  {
    settlements,
    database,
    wallet,
  }: {
    readonly settlements: OutcomeSettlementBatches;
    readonly database: Database;
    readonly wallet: Pick<Wallet, 'checkEligibility'>;
  },
): Promise<ReportSettlement> {
  const settlement = await settlements.submit(report);
  if (isRefused(settlement) && settlement.code === 'not_found') {
    const archived = await findArchivedAttempt(database, report.attemptId);
    return archived === null ? settlement : settlementOfArchived(report, archived);
  }
  if (settlement.kind !== 'ask_eligibility') return settlement;
  const { challengeId, playerRef } = settlement;
  const challenge = await findChallenge(database, challengeId);
  if (challenge === null) throw new Error(`challenge ${challengeId} of attempt ${report.attemptId} is not there`);
  const player = { tenant: challenge.tenant, playerRef };
  const { accountId, codes } = await wallet.checkEligibility(player, [requirementOf(challenge.terms)]);
  const eligibility = { accountId, code: codes[0] ?? null };
  const settled = await settlements.submit({ ...report, eligibility });
  if (settled.kind === 'ask_eligibility') throw new Error(`attempt ${report.attemptId} asks again for its player`);
  return settled;
}
