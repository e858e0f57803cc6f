/**
 * ReportOutcomes, as libs/attempts/src/steps/report-outcome.ts describes it. The commit is settle-outcomes.ts. A prize that was won is then paid
 * by the wallet, before the answer, which states the status of the award.
 *
 * The commit that records an outcome without an award also emits its event; an outcome with one is emitted by the commit that records the
 * wallet's decision on the award (libs/attempts/src/steps/pay-awards.ts), so that the event has both.
 *
 * In live the score of a free attempt is a sample only for an account that may play for money (domain/sample-player.ts): its report asks
 * the wallet before it is recorded, and fails while the wallet cannot be reached. A paid one does not.
 *
 * The same report again finds its outcome and answers it, rolling an award forward first. When the wallet cannot be reached after the
 * commit the item fails; the retry, or the sweeper, pays.
 */

import {
  type AwardPayer,
  answerReports,
  parseReport,
  presentOutcome,
  type ReportDeps,
  type ReportPlan,
  reportOutcome,
  type SettlementOf,
  type Wallet,
} from '@laurel/attempts';
import { isRefused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService, OutcomeReport as OutcomeReportMessage } from '@laurel/proto/challenge';
import type { Logger } from '@laurel/service';
import type { Award } from '../domain/challenge.ts';
import type { OutcomeReport } from '../domain/outcome-decision.ts';
import { requirementOf } from '../domain/requirement.ts';
import { settledWithAward } from '../events.ts';
import { findAwardOfAttempt } from '../repository/awards.ts';
import { findChallenge } from '../repository/challenges.ts';
import { loadOutcome, loadReceipt } from '../repository/outcomes.ts';
import type { RecordedOutcome } from './outcome-draft.ts';
import type { OutcomeSettlements } from './settle-outcomes.ts';

type Deps = ReportDeps & {
  readonly database: Database;
  readonly settlements: OutcomeSettlements;
  readonly payer: AwardPayer<Award>;
  readonly wallet: Pick<Wallet, 'checkEligibility'>;
  readonly logger: Logger;
};

export function reportOutcomes(deps: Deps): Handlers<ChallengeServiceService>['reportOutcomes'] {
  const options = { owner: 'challenge', logger: deps.logger, failure: 'report failed' } as const;
  return ({ reports }) => answerReports(reports, (item) => reportOne(item, deps), options);
}

async function reportOne(item: OutcomeReportMessage, deps: Deps) {
  const report = parseReport(item);
  const reported = await reportOutcome(planOf(report, deps), deps);
  if (isRefused(reported)) return reported;
  const award = reported.kind === 'recorded' ? await pay(reported, deps) : await payAgain(report, deps);
  return {
    $case: 'outcome' as const,
    value: presentOutcome({ outcome: reported.outcome, award }),
    repeated: reported.kind === 'repeated',
  };
}

/** The award that the outcome won, with the wallet's decision; null for none. */
async function pay({ award: won, outcome }: RecordedOutcome, { payer }: Deps): Promise<Award | null> {
  if (won === null) return null;
  return await payer.complete(won, (award) => settledWithAward({ ...won, award, outcome }));
}

async function payAgain({ attemptId }: OutcomeReport, { database, payer }: Deps): Promise<Award | null> {
  const owed = await findAwardOfAttempt(database, attemptId);
  return owed === null ? null : await payer.complete(owed);
}

/** What the attempt lifecycle leaves to the owner: the commit, and loading the recorded outcome. */
function planOf(report: OutcomeReport, deps: Deps): ReportPlan<RecordedOutcome> {
  const { attemptId } = report;
  const { database } = deps;
  return {
    attemptId,
    environment: report.tenant.environment,
    reported: report,
    settle: () => settle(report, deps),
    loadOutcome: () => loadOutcome(database, attemptId),
    loadReceipt: (receiptId) => loadReceipt(database, receiptId),
  };
}

/** The commit; it asks first for what the wallet says of the player of a free attempt in live, and no other call of it does. */
async function settle(report: OutcomeReport, deps: Deps): Promise<SettlementOf<RecordedOutcome>> {
  const settlement = await deps.settlements.submit(report);
  if (settlement.kind !== 'ask_eligibility') return settlement;
  const { challengeId, playerRef } = settlement;
  const challenge = await findChallenge(deps.database, challengeId);
  if (challenge === null) throw new Error(`challenge ${challengeId} of attempt ${report.attemptId} is not there`);
  const player = { tenant: challenge.tenant, playerRef };
  const { accountId, codes } = await deps.wallet.checkEligibility(player, [requirementOf(challenge.terms)]);
  const eligibility = { accountId, code: codes[0] ?? null };
  const settled = await deps.settlements.submit({ ...report, eligibility });
  if (settled.kind === 'ask_eligibility') throw new Error(`attempt ${report.attemptId} asks again for its player`);
  return settled;
}
