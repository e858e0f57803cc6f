/**
 * The commit of ReportOutcomes, shared by many reports. It settles the attempts, writes each
 * outcome with its signed receipt and its event, and changes the boards: best runs, tallies and
 * chunks. It takes two round trips: the locks with all reads, then the writes with the commit.
 *
 * The locks decide the races. An attempt is locked, so only one outcome settles it. The boards of
 * the rounds are locked, so a round that another transaction ends meanwhile either has counted the
 * score already, or refuses it.
 */

import {
  createCommitBatches,
  decideUnlessRefused,
  deleteIdempotencyUses,
  idempotencyRecordIdsOf,
  insertIdempotencyUses,
  lockIdempotencyUses,
  type RecordedSettlement,
  type Settlement as ReportSettlement,
  resolveReports,
} from '@laurel/attempts';
import type { IdempotencyUse } from '@laurel/attempts/domain';
import type { Coalescer } from '@laurel/coalesce';
import { isRefused } from '@laurel/errors';
import type { Outbox } from '@laurel/events';
import type { Database, Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Clock } from '@laurel/service';
import type { Signer } from '@laurel/signature';
import { receiptIdOf } from '@laurel/values/ids';
import { decideOutcome, decideOutcomes, type OutcomeDecision, type OutcomeReport } from '../domain/outcome-decision.ts';
import { composeReceipt } from '../domain/receipt.ts';
import type { Outcome } from '../domain/tournament.ts';
import { attemptSettled } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import { findArchivedAttempt, lockOnBoards } from '../repository/attempts.ts';
import { type SettledRun, scoresOf } from '../repository/best-runs.ts';
import { writeBoards } from '../repository/board.ts';
import { insertOutcomes, type SignedOutcome } from '../repository/outcomes.ts';

type RecordedRoundOutcome = { readonly kind: 'recorded'; readonly outcome: Outcome };

/** The result of the commit for one report. */
export type Settlement =
  | RecordedRoundOutcome
  | Exclude<ReportSettlement, RecordedSettlement>
  | Extract<OutcomeDecision, { readonly kind: 'round_over' }>;

export type OutcomeSettlementBatches = Coalescer<OutcomeReport, Settlement>;

export type OutcomeCommitDeps = {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly signer: Signer;
  readonly signingKeyId: number;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
};

export function createOutcomeSettlementBatches(deps: OutcomeCommitDeps): OutcomeSettlementBatches {
  return createCommitBatches<OutcomeReport, Settlement>({
    name: 'report-outcomes',
    environmentOf: ({ tenant }) => tenant.environment,
    commit: (batch) => settle(batch, deps),
  });
}

/**
 * Settles the attempt of one report. A report on an archived attempt gets the same result as before
 * the attempt was archived.
 */
export async function settleOutcome(
  report: OutcomeReport & { readonly feePosted: boolean },
  {
    settlements,
    database,
    attemptTtlMs: ttlMs,
    clock,
  }: OutcomeCommitDeps & { readonly settlements: OutcomeSettlementBatches },
): Promise<Settlement> {
  const settlement = await settlements.submit(report);
  if (!isRefused(settlement) || settlement.code !== 'not_found') return settlement;
  const archived = await findArchivedAttempt(database, report.attemptId);
  if (archived === null) return settlement;
  const { attempt, round } = archived;
  // Only a report that settles its attempt is decided by a tiebreak, and this attempt has ended.
  const ended = { ...round, terms: { tiebreak: null } };
  const decision = decideOutcome({ ...report, attempt, round: ended, ttlMs, now: clock() });
  if (decision.kind === 'settled') throw new Error(`the archived attempt ${report.attemptId} has not ended`);
  return decision.kind === 'settled_before' ? { ...decision, receiptId: receiptIdOf(report.operationId) } : decision;
}

async function settle(batch: readonly OutcomeReport[], deps: OutcomeCommitDeps): Promise<readonly Settlement[]> {
  const { settlements, events } = await deps.database.transaction((tx) => decideAndRecord(tx, batch, deps), {
    beforeCommit: () => failpoint('tournament.outcome.before-commit'),
  });
  await failpoint('tournament.outcome.after-commit');
  deps.outbox.publish(events);
  return settlements;
}

async function decideAndRecord(
  tx: Transaction,
  batch: readonly OutcomeReport[],
  deps: OutcomeCommitDeps,
): Promise<{ readonly settlements: readonly Settlement[]; readonly events: readonly Event[] }> {
  const [locked, recorded] = await Promise.all([
    lockOnBoards(tx, [...new Set(batch.map(({ attemptId }) => attemptId))]),
    lockIdempotencyUses(tx, idempotencyRecordIdsOf(batch)),
  ]);
  // The clock is read after the wait for the locks, so a score that waited past the end of its
  // round is refused.
  const now = deps.clock();
  const decided = decideUnlessRefused(batch, resolveReports(batch, recorded), (open) =>
    decideOutcomes(
      open.map(({ request }) => request),
      locked,
      { ttlMs: deps.attemptTtlMs, now },
    ),
  );

  const used: { operationId: string; idempotencyUse: IdempotencyUse }[] = [];
  const superseded: string[] = [];
  const signed: SignedOutcome[] = [];
  const runs: SettledRun[] = [];
  const events: Event[] = [];
  const settlements = decided.map((item): Settlement => {
    if (isRefused(item)) return item;
    const { decision, resolved: operation } = item;
    if (decision.kind === 'settled_before') return { ...decision, receiptId: operation.operationId };
    if (decision.kind !== 'settled') return decision;
    const { report, run } = decision;
    const { attempt, round, entry } = decision.found;
    const outcome: Outcome = {
      attemptId: attempt.id,
      receiptId: receiptIdOf(report.operationId),
      score: run.score,
      tiebreak: run.tiebreak,
      recordedAt: run.at,
    };
    const { tiebreak: reportedTiebreak, evidence } = report;
    const receipt = deps.signer.sign(composeReceipt({ attempt, round, outcome, reportedTiebreak, evidence }));
    signed.push({ outcome, receipt: receipt.canonical, signature: receipt.signature });
    runs.push({ entry, rules: round.terms, run: { ...run, attemptId: attempt.id, playerRef: attempt.playerRef } });
    events.push(attemptSettled({ attempt, round, outcome }));
    if (operation.record !== null) used.push({ operationId: outcome.receiptId, idempotencyUse: operation.record });
    if (operation.record !== null && operation.supersedes) superseded.push(operation.record.idempotencyRecordId);
    return { kind: 'recorded', outcome };
  });
  await deleteIdempotencyUses(tx, superseded);

  // These writes are independent, so they are sent together.
  await tx.commitWith((last) =>
    Promise.all([
      insertOutcomes(last, signed, deps.signingKeyId),
      insertIdempotencyUses(last, used),
      writeBoards(last, scoresOf(runs)),
      deps.outbox.insert(last, events),
    ]),
  );
  return { settlements, events };
}
