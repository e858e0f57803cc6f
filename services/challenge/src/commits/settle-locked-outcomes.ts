/**
 * Settles outcomes of any attempts in one transaction, under the locks on the attempts' rows: lock,
 * decide in order, claim, write. It takes two round trips, one more if there is a prize to claim,
 * and two more if scores count towards a calibration. Only this path refuses reports, disqualifies
 * attempts, and records scores that count for a bar (record-samples.ts). The report that completes
 * a calibration gets its response once the challenge is live.
 */

import {
  decideUnlessRefused,
  deleteIdempotencyUses,
  idempotencyRecordIdsOf,
  insertIdempotencyUses,
  lockIdempotencyUses,
  resolveReports,
} from '@laurel/attempts';
import { isRefused, refused } from '@laurel/errors';
import type { Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import { receiptIdOf } from '@laurel/values/ids';
import { claimOf } from '../domain/claim.ts';
import type { BarSample } from '../domain/counted-samples.ts';
import { countsForBar } from '../domain/current-bar.ts';
import { countsForMonitor } from '../domain/monitor-decision.ts';
import { decideOutcomes, type SettlingReport } from '../domain/outcome-decision.ts';
import { failpoint } from '../failpoints.ts';
import { disqualifyAttempts, lockAttempts, settleAttempts } from '../repository/attempts.ts';
import { claimAwards } from '../repository/awards.ts';
import { insertBarSamples } from '../repository/bar-samples.ts';
import { lockChallenges } from '../repository/challenges.ts';
import { insertOutcomes, loadAttemptsByReceipt } from '../repository/outcomes.ts';
import { insertUnmonitoredOutcomes } from '../repository/unmonitored-outcomes.ts';
import {
  draftOutcome,
  eventsOf,
  type OutcomeCommitDeps,
  type OutcomeDraft,
  type ReportWithFeeState,
  type Settlement,
  settlementOf,
} from './outcome-draft.ts';
import { recordSamples } from './record-samples.ts';

/** Returns one result per report, in order. */
export async function settleLockedOutcomes(
  batch: readonly ReportWithFeeState[],
  deps: OutcomeCommitDeps,
): Promise<readonly Settlement[]> {
  const { settlements, events, isMonitored } = await deps.database.transaction(
    (tx) => decideAndRecord(tx, batch, deps),
    {
      beforeCommit: () => failpoint('challenge.outcome.before-commit'),
    },
  );
  await failpoint('challenge.outcome.after-commit');
  for (const { attemptId } of batch) deps.attempts.evict(attemptId);
  deps.outbox.publish(events);
  if (isMonitored) deps.monitor.wake();
  return settlements;
}

type Decided = {
  readonly settlements: readonly Settlement[];
  readonly events: readonly Event[];
  /** Whether the batch has an outcome that a drift monitor counts. */
  readonly isMonitored: boolean;
};

async function decideAndRecord(
  tx: Transaction,
  batch: readonly ReportWithFeeState[],
  deps: OutcomeCommitDeps,
): Promise<Decided> {
  const [locked, recorded, settledByReceipt] = await Promise.all([
    lockAttempts(tx, [...new Set(batch.map(({ attemptId }) => attemptId))]),
    lockIdempotencyUses(tx, idempotencyRecordIdsOf(batch)),
    loadAttemptsByReceipt(
      tx,
      batch.map(({ operationId }) => receiptIdOf(operationId)),
    ),
  ]);
  const now = deps.clock();
  const decided = decideUnlessRefused(batch, resolveReports(batch, recorded), (open) =>
    decideOutcomes(
      open.map(({ request: report }) => ({
        report,
        found: locked.get(report.attemptId) ?? null,
        feePosted: report.feePosted,
        settledByOperation: settledByReceipt.get(receiptIdOf(report.operationId)) ?? null,
      })),
      { ttlMs: deps.attemptTtlMs, now },
    ),
  );

  const settling = decided.flatMap((item) =>
    item.kind === 'decided' && item.decision.kind === 'settled' ? item.decision : [],
  );
  const claims = settling.flatMap((decision) => claimOf(decision) ?? []);
  if (claims.length > 0) await lockChallengesOfBoth(tx, settling);
  const won = await claimAwards(tx, claims, now);

  const disqualified: string[] = [];
  const drafts: OutcomeDraft[] = [];
  const superseded: string[] = [];
  const settlements = decided.map((item): Settlement => {
    if (isRefused(item)) return item;
    const { decision, resolved: operation } = item;
    if (decision.kind === 'disqualified') {
      disqualified.push(decision.attemptId);
      return refused('score_out_of_range');
    }
    if (decision.kind === 'settled_before') return { ...decision, receiptId: operation.operationId };
    if (decision.kind !== 'settled') return decision;
    const status = won.get(decision.report.attemptId) ?? null;
    const claim = status === null ? null : claimOf(decision);
    const draft = draftOutcome(decision, { claim, idempotencyUse: operation.record, signer: deps.signer, now });
    if (operation.supersedes && operation.record !== null) superseded.push(operation.record.idempotencyRecordId);
    drafts.push(draft);
    return settlementOf(draft, status);
  });

  const events = eventsOf(drafts);
  const monitored = drafts.filter(countsForMonitor).map(monitoredOutcomeOf);
  const [ofTopN, calibrating] = samplesOf(drafts);
  await recordSamples(tx, calibrating, { source: 'observed', now });
  await deleteIdempotencyUses(tx, superseded);
  await tx.commitWith((last) => {
    const settled = drafts.map(({ attempt }) => attempt.id);
    const signed = drafts.map((draft) => draft.signed);
    // The writes are independent of each other, so they are sent together.
    return Promise.all([
      disqualified.length === 0 ? undefined : disqualifyAttempts(last, disqualified, now),
      settled.length === 0 ? undefined : settleAttempts(last, settled),
      settled.length === 0 ? undefined : insertOutcomes(last, signed, deps.signingKeyId),
      insertIdempotencyUses(last, drafts.flatMap(keyedOperationOf)),
      insertBarSamples(last, ofTopN),
      insertUnmonitoredOutcomes(last, monitored),
      deps.outbox.insert(last, events),
    ]);
  });
  return { settlements, events, isMonitored: monitored.length > 0 };
}

/**
 * A claim takes a shared lock on its challenge; a sample needs an exclusive lock. A batch with both
 * takes all exclusive locks first, by id, so that it never has to strengthen a lock that another
 * batch shares.
 */
async function lockChallengesOfBoth(tx: Transaction, settling: readonly SettlingReport[]): Promise<void> {
  const isCalibrating = ({ found }: SettlingReport) => countsForBar(found) && found.terms.prizeStructure !== 'top_n';
  if (!settling.some(isCalibrating)) return;
  const locked = settling.filter((decision) => decision.claimsPrize || isCalibrating(decision));
  await lockChallenges(tx, [...new Set(locked.map(({ found }) => found.attempt.challengeId))]);
}

/** Returns the idempotency use to record with a draft. The receipt id identifies the operation. */
function keyedOperationOf({ idempotencyUse, signed }: OutcomeDraft) {
  return idempotencyUse === null ? [] : [{ operationId: signed.outcome.receiptId, idempotencyUse }];
}

function monitoredOutcomeOf({ attempt, signed }: OutcomeDraft) {
  return { challengeId: attempt.challengeId, passed: signed.outcome.metThreshold };
}

/**
 * Returns the samples of top_n challenges, and the samples that may count towards a calibration.
 */
function samplesOf(drafts: readonly OutcomeDraft[]): readonly [readonly BarSample[], readonly BarSample[]] {
  const counting = drafts.filter(countsForBar);
  const isTopN = ({ terms }: OutcomeDraft) => terms.prizeStructure === 'top_n';
  return [counting.filter(isTopN).flatMap(sampleOf), counting.filter((draft) => !isTopN(draft)).flatMap(sampleOf)];
}

/**
 * Returns the sample that the score adds to the calibration; empty if the score counts for no
 * account.
 */
function sampleOf({ attempt, signed, samplePlayer: player }: OutcomeDraft): readonly BarSample[] {
  const { challengeId, id: sampleId } = attempt;
  return player === null ? [] : [{ challengeId, sampleId, player, score: signed.outcome.score }];
}
