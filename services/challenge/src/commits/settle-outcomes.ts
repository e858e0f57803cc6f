/**
 * The commit of ReportOutcomes, for many reports in one commit: it settles the attempts, claims the prizes, and writes each outcome
 * with its signed receipt and its event. An outcome that won a prize has its event in the commit that records the wallet's decision on
 * the award (libs/attempts/src/steps/pay-awards.ts), so that the event has both.
 *
 * An attempt that this process opened itself is decided on the cache, and settled by one statement that takes effect only where all of
 * that still holds (settle-cached-outcomes.ts). Reports that it skips, and all others, are decided under the lock on the attempt's row
 * (settle-locked-outcomes.ts).
 *
 * In live the score of a free attempt is a sample only for an account that may play for money (domain/sample-player.ts): its report asks
 * the wallet before it is recorded, and fails while the wallet cannot be reached. A paid one does not.
 */
import { createCommitBatches, type Settlement as ReportSettlement, type Wallet } from '@laurel/attempts';
import { type Coalescer, runOptimisticBatch } from '@laurel/coalesce';
import type { Database } from '@laurel/postgres';
import { requirementOf } from '../domain/requirement.ts';
import { findChallenge } from '../repository/challenges.ts';
import type { OutcomeCommitDeps, SentReport, Settlement } from './outcome-draft.ts';
import { settleCachedOutcomes } from './settle-cached-outcomes.ts';
import { settleLockedOutcomes } from './settle-locked-outcomes.ts';

export type OutcomeSettlements = Coalescer<SentReport, Settlement>;

export function createOutcomeSettlements(deps: OutcomeCommitDeps): OutcomeSettlements {
  return createCommitBatches<SentReport, Settlement>({
    name: 'report-outcomes',
    environmentOf: ({ tenant }) => tenant.environment,
    commit: (batch) =>
      runOptimisticBatch<SentReport, Settlement>(batch, {
        optimistic: (reports) => settleCachedOutcomes(reports, deps),
        underLock: (reports) => settleLockedOutcomes(reports, deps),
      }),
  });
}

/** The commit for one report; it asks first for what the wallet says of the player of a free attempt in live. */
export async function settleOutcome(
  report: SentReport,
  {
    settlements,
    database,
    wallet,
  }: {
    readonly settlements: OutcomeSettlements;
    readonly database: Database;
    readonly wallet: Pick<Wallet, 'checkEligibility'>;
  },
): Promise<ReportSettlement> {
  const settlement = await settlements.submit(report);
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
