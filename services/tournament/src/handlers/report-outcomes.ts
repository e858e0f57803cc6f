/**
 * ReportOutcomes, as libs/money-path/src/report-outcome.ts tells it. Here is the commit: it settles the attempts of a batch, writes each
 * outcome with its signed receipt and its event, and changes the boards: best runs, tallies and chunks. Two round trips: the locks with
 * all that is read, and the writes with the commit.
 *
 * The locks decide the races. An attempt is held, so one outcome settles it; the boards of its rounds are held, so a round that somebody
 * ends right now has either taken the score before that, or refuses it.
 *
 * The same operation id again finds its outcome and answers it.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { isRefused, refused } from '@laurel/errors';
import type { Outbox } from '@laurel/events';
import { failpoint } from '@laurel/failpoint';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import { receiptIdOf } from '@laurel/ids';
import {
  type AttemptExpirer,
  type AttemptOpener,
  answerItems,
  type ReportDeps,
  type ReportPlan,
  reportOutcome,
} from '@laurel/money-path';
import type { Tenant } from '@laurel/money-path/domain';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { OutcomeReport, TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock, Logger } from '@laurel/service';
import type { Signer } from '@laurel/signature';
import { decideOutcome, type OutcomeDecision } from '../domain/outcome-decision.ts';
import { composeReceipt } from '../domain/receipt.ts';
import type { Outcome } from '../domain/tournament.ts';
import { attemptSettled } from '../events.ts';
import { type AttemptOnBoard, lockOnBoards } from '../repository/attempts.ts';
import { type SettledRun, scoresOf } from '../repository/best-runs.ts';
import { writeBoards } from '../repository/board.ts';
import { insertOutcomes, loadOutcome, type SignedOutcome } from '../repository/outcomes.ts';
import { presentOutcome } from './present-attempt.ts';

type Report = {
  readonly operationId: string;
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly score: number;
  /** Null when none was sent. */
  readonly tiebreak: number | null;
  /** An object as JSON text, or empty. */
  readonly evidence: string;
};

type Recorded = { readonly kind: 'recorded'; readonly outcome: Outcome };

/** What the commit made of a report. */
type Settlement = Recorded | Exclude<OutcomeDecision, { readonly kind: 'settled' }>;

export type OutcomeSettlements = Coalescer<Report, Settlement>;

type SettleDeps = {
  readonly outbox: Outbox;
  readonly signer: Signer;
  readonly signingKeyId: number;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
};

type Deps = ReportDeps & {
  database: Database;
  settlements: OutcomeSettlements;
  opener: AttemptOpener;
  expirer: AttemptExpirer<'round_closed'>;
  logger: Logger;
};

export function createOutcomeSettlements(deps: SettleDeps & { database: Database }): OutcomeSettlements {
  return createCoalescer<Report, Settlement>({
    name: 'report-outcomes',
    // The locks keep two lanes apart; within a batch the first report on an attempt wins.
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(batch) {
      const { settlements, events } = await deps.database.transaction((tx) => settle(tx, batch, deps), {
        beforeCommit: () => failpoint('tournament.outcome.before-commit'),
      });
      await failpoint('tournament.outcome.after-commit');
      deps.outbox.publish(events);
      return settlements;
    },
  });
}

export function reportOutcomes(deps: Deps): Handlers<TournamentServiceService>['reportOutcomes'] {
  const options = { owner: 'tournament', logger: deps.logger, failure: 'report failed' } as const;
  return ({ reports }) => answerItems(reports, (item) => reportOne(item, deps), options);
}

async function reportOne(item: OutcomeReport, deps: Deps) {
  const reported = await reportOutcome(planOf(parseReport(item), deps), deps);
  if (isRefused(reported)) return reported;
  return { $case: 'outcome' as const, value: presentOutcome(reported.outcome) };
}

function parseReport(item: OutcomeReport): Report {
  const { score, tiebreak = null } = item;
  if (!Number.isFinite(score)) throw new Error('a score is not finite');
  if (tiebreak !== null && !Number.isFinite(tiebreak)) throw new Error('a tiebreak is not finite');
  return {
    operationId: parseId(item.operationId),
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    score,
    tiebreak,
    evidence: item.evidenceJson,
  };
}

/** The commit is ours, and so is the end that a round puts to an attempt; the rest is the money path. */
function planOf(report: Report, { database, settlements, opener, expirer, clock }: Deps): ReportPlan<Recorded> {
  const { attemptId, operationId } = report;
  return {
    attemptId,
    operationId,
    async settle() {
      // What opens an attempt also books its entry, so no attempt settles straight from `pending`.
      await opener.written(attemptId);
      const settlement = await settlements.submit(report);
      if (settlement.kind !== 'round_over') return settlement;
      await expirer.expire(attemptId, clock(), { evenIfYoung: true, reason: 'round_closed' });
      return refused('round_closed');
    },
    loadOutcome: () => loadOutcome(database, attemptId),
  };
}

// The commit.

type Settled = { readonly settlements: readonly Settlement[]; readonly events: readonly Event[] };

async function settle(tx: Transaction, batch: readonly Report[], deps: SettleDeps): Promise<Settled> {
  const locked = await lockOnBoards(tx, [...new Set(batch.map((report) => report.attemptId))]);
  // After the wait for the locks: a score that waited until its round was over comes too late.
  const now = deps.clock();

  const signed: SignedOutcome[] = [];
  const runs: SettledRun[] = [];
  const events: Event[] = [];
  const settlements = decideInOrder(batch, locked, deps, now).map(({ report, on, decision }): Settlement => {
    if (decision.kind !== 'settled') return decision;
    if (on === null) throw new Error(`attempt ${report.attemptId} settles and was not found`);

    const { attempt, round, entry } = on;
    const { run } = decision;
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
    return { kind: 'recorded', outcome };
  });

  // They do not depend on each other and go out together.
  await tx.commitWith((last) =>
    Promise.all([
      insertOutcomes(last, signed, deps.signingKeyId),
      writeBoards(last, scoresOf(runs)),
      deps.outbox.insert(last, events),
    ]),
  );
  return { settlements, events };
}

type Decided = {
  readonly report: Report;
  readonly on: AttemptOnBoard | null;
  readonly decision: OutcomeDecision;
};

/** Each report is decided on what the reports before it made of the attempt. */
function decideInOrder(
  batch: readonly Report[],
  locked: ReadonlyMap<string, AttemptOnBoard>,
  { attemptTtlMs }: SettleDeps,
  now: Date,
): readonly Decided[] {
  const current = new Map(locked);
  return batch.map((report) => {
    const on = current.get(report.attemptId) ?? null;
    const decision = decideOutcome({
      tenant: report.tenant,
      attempt: on?.attempt ?? null,
      round: on?.round ?? null,
      score: report.score,
      tiebreak: report.tiebreak,
      feePosted: false,
      ttlMs: attemptTtlMs,
      now,
    });
    if (on !== null && decision.kind === 'settled') {
      current.set(report.attemptId, { ...on, attempt: { ...on.attempt, status: 'settled' } });
    }
    return { report, on, decision };
  });
}
