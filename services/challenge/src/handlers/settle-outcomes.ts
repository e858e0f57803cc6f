/**
 * The commit of ReportOutcomes, for many reports in one commit: it settles the attempts, claims the prizes, and writes each outcome
 * with its signed receipt and its event.
 *
 * An attempt that this process opened itself is decided on the cache, and settled by one statement that takes effect only where all of
 * that still holds (settle-cached-outcomes.ts). Reports that it skips, and all others, are decided under the lock on the attempt's row
 * (settle-locked-outcomes.ts).
 */
import { type Coalescer, createCoalescer, createCoalescersByEnvironment, runOptimisticBatch } from '@laurel/coalesce';
import { isConnectionFailure } from '@laurel/postgres';
import type { OutcomeReport } from '../domain/outcome-decision.ts';
import type { OutcomeCommitDeps, Settlement } from './outcome-draft.ts';
import { settleCachedOutcomes } from './settle-cached-outcomes.ts';
import { settleLockedOutcomes } from './settle-locked-outcomes.ts';

export type OutcomeSettlements = Coalescer<OutcomeReport, Settlement>;

export function createOutcomeSettlements(deps: OutcomeCommitDeps): OutcomeSettlements {
  return createCoalescersByEnvironment<OutcomeReport, Settlement>({
    environmentOf: ({ tenant }) => tenant.environment,
    create: () =>
      createCoalescer({
        name: 'report-outcomes',
        // The row locks serialize two lanes; within a batch the first report on an attempt wins.
        lanes: 2,
        isolate: (error) => !isConnectionFailure(error),
        run: (batch) =>
          runOptimisticBatch<OutcomeReport, Settlement>(batch, {
            optimistic: (reports) => settleCachedOutcomes(reports, deps),
            underLock: (reports) => settleLockedOutcomes(reports, deps),
          }),
      }),
  });
}
