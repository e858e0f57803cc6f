/**
 * Settles outcomes of cached attempts, in one statement that is its own transaction. The statement
 * settles only attempts whose rows still equal the cache. It leaves other attempts unchanged, and
 * these are evicted from the cache.
 */

import { isUniqueViolation } from '@laurel/postgres';
import { claimOf } from '../domain/claim.ts';
import { countsForMonitor } from '../domain/monitor-decision.ts';
import { decideCachedOutcomes, type OutcomeReport } from '../domain/outcome-decision.ts';
import { failpoint } from '../failpoints.ts';
import type { NewAwardStatus } from '../repository/awards.ts';
import { type OptimisticOutcome, settleOptimistically } from '../repository/outcomes.ts';
import {
  draftOutcome,
  eventsOf,
  type OutcomeCommitDeps,
  type OutcomeDraft,
  type Settlement,
  settlementOf,
} from './outcome-draft.ts';

/** Returns one result per report, in order; null if the statement did not settle the attempt. */
export async function settleCachedOutcomes(
  batch: readonly OutcomeReport[],
  deps: OutcomeCommitDeps,
): Promise<readonly (Settlement | null)[]> {
  const { attempts, signer, attemptTtlMs: ttlMs } = deps;
  const now = deps.clock();
  const decisions = decideCachedOutcomes(
    batch.map((report) => ({ report, found: attempts.get(report.attemptId) })),
    { ttlMs, now },
  );
  const drafts = decisions.map((decision) =>
    decision === null
      ? null
      : draftOutcome(decision, {
          claim: claimOf(decision),
          idempotencyUse: decision.report.idempotencyUse,
          signer,
          now,
        }),
  );
  const tried = drafts.filter((draft) => draft !== null);
  if (tried.length === 0) return batch.map(() => null);

  const settled = await record(tried, deps);
  for (const { attempt } of tried) attempts.evict(attempt.id);
  const recorded = tried.filter(({ attempt }) => settled.has(attempt.id));
  deps.outbox.publish(eventsOf(recorded));
  if (recorded.some(countsForMonitor)) deps.monitor.wake();
  return drafts.map((draft) => {
    const status = draft === null ? undefined : settled.get(draft.attempt.id);
    return draft === null || status === undefined ? null : settlementOf(draft, status);
  });
}

/**
 * Records the drafts. Returns the ids of the settled attempts, each with the status of the award
 * that it won.
 */
async function record(
  drafts: readonly OutcomeDraft[],
  { database, outbox, signingKeyId }: OutcomeCommitDeps,
): Promise<ReadonlyMap<string, NewAwardStatus | null>> {
  const outcomes = drafts.map(
    ({ attempt, terms, signed, claim, idempotencyUse, event }): OptimisticOutcome => ({
      ...signed,
      attempt,
      isMonitored: countsForMonitor({ attempt, terms }),
      idempotencyUse,
      awardId: claim?.id ?? null,
      event: event === null ? null : (outbox.rowsOf([event])[0] ?? null),
    }),
  );
  await failpoint('challenge.outcome.before-commit');
  const settled = await settleOptimistically(database, outcomes, signingKeyId).catch((error: unknown) => {
    // Another transaction claimed the prize, recorded the operation or used its idempotency key.
    // Nothing is settled here: the decision under lock reads what that transaction committed.
    if (isUniqueViolation(error)) return new Map<string, NewAwardStatus | null>();
    throw error;
  });
  if (settled.size > 0) await failpoint('challenge.outcome.after-commit');
  return settled;
}
