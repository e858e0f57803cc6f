/** ReportOutcomes: steps/report-outcome.ts describes what happens to each item. */
import { isRefused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { Logger } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import { answerReports } from '../steps/answer-items.ts';
import { parseReport } from '../steps/parse-items.ts';
import { type ReportDeps, reportOutcome } from '../steps/report-outcome.ts';
import { presentOutcome } from './present.ts';

export function reportOutcomes(
  deps: ReportDeps & { readonly contestService: ContestServiceName; readonly logger: Logger },
): Handlers<AttemptServiceService>['reportOutcomes'] {
  const { contestService, logger } = deps;
  return ({ reports }) =>
    answerReports(
      reports,
      async (item) => {
        const reported = await reportOutcome(parseReport(item), deps);
        if (isRefused(reported)) return reported;
        return { $case: 'outcome' as const, value: presentOutcome(reported), repeated: reported.repeated };
      },
      { contestService, logger, failure: 'report failed' },
    );
}
