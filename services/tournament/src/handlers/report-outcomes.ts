/**
 * ReportOutcomes, as libs/attempts/src/steps/report-outcome.ts describes it. The commit is settle-outcomes.ts. A report that comes after the end of
 * its round ends the attempt, and is answered `round_closed`.
 *
 * The same report again finds its outcome and answers it.
 */

import {
  type AttemptExpirer,
  type AttemptOpener,
  answerReports,
  parseReport,
  type ReportDeps,
  type ReportPlan,
  reportOutcome,
} from '@laurel/attempts';
import { isRefused, refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { OutcomeReport as OutcomeReportMessage, TournamentServiceService } from '@laurel/proto/tournament';
import type { Logger } from '@laurel/service';
import type { OutcomeReport } from '../domain/outcome-decision.ts';
import { loadOutcome, loadReceipt } from '../repository/outcomes.ts';
import { presentOutcome } from './present-attempt.ts';
import type { OutcomeSettlements, RecordedOutcome } from './settle-outcomes.ts';

type Deps = ReportDeps & {
  readonly database: Database;
  readonly settlements: OutcomeSettlements;
  readonly opener: AttemptOpener;
  readonly expirer: AttemptExpirer<'round_closed'>;
  readonly logger: Logger;
};

export function reportOutcomes(deps: Deps): Handlers<TournamentServiceService>['reportOutcomes'] {
  const options = { owner: 'tournament', logger: deps.logger, failure: 'report failed' } as const;
  return ({ reports }) => answerReports(reports, (item) => reportOne(item, deps), options);
}

async function reportOne(item: OutcomeReportMessage, deps: Deps) {
  const report = parseScore(item);
  const reported = await reportOutcome(planOf(report, deps), deps);
  if (isRefused(reported)) return reported;
  return { $case: 'outcome' as const, value: presentOutcome(reported.outcome), repeated: reported.kind === 'repeated' };
}

function parseScore(item: OutcomeReportMessage): OutcomeReport {
  const { tiebreak = null } = item;
  if (tiebreak !== null && !Number.isFinite(tiebreak)) throw new Error('a tiebreak is not finite');
  return { ...parseReport(item), tiebreak };
}

/** What the attempt lifecycle leaves to the owner: the commit, and ending the attempt with its round. */
function planOf(
  report: OutcomeReport,
  { database, settlements, opener, expirer, clock }: Deps,
): ReportPlan<RecordedOutcome> {
  const { attemptId } = report;
  return {
    attemptId,
    environment: report.tenant.environment,
    reported: report,
    async settle() {
      // The commit that opens an attempt also books its entry, so no attempt settles directly from `pending`.
      await opener.written(attemptId);
      const settlement = await settlements.submit(report);
      if (settlement.kind !== 'round_over') return settlement;
      await expirer.expire(attemptId, clock(), { evenIfYoung: true, reason: 'round_closed' });
      return refused('round_closed');
    },
    loadOutcome: () => loadOutcome(database, attemptId),
    loadReceipt: (receiptId) => loadReceipt(database, receiptId),
  };
}
