/**
 * ReportOutcomes: one commit settles the attempt, claims the prize, and writes the outcome with its signed receipt. A prize that was won
 * is then paid by the wallet, before the answer; the award says so right behind it.
 *
 * An outcome without an award is told to partners by the commit that records it; one with an award by the commit that records what the
 * wallet made of the award (libs/money-path/src/pay-awards.ts), so that both are told together.
 *
 * The same operation id again finds its outcome and answers it, rolling an award forward first. When the wallet cannot be reached after
 * the commit the item is a fault; the retry, or the sweeper, pays.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { isRefused, type Refused, refused } from '@laurel/errors';
import type { Outbox } from '@laurel/events';
import { failpoint } from '@laurel/failpoint';
import { type Handlers, parseId, parseItems, parseTenant } from '@laurel/grpc';
import { awardIdOf, receiptIdOf } from '@laurel/ids';
import {
  type AttemptExpirer,
  type AttemptOpener,
  type AwardPayer,
  answerItem,
  type PendingResolver,
} from '@laurel/money-path';
import type { OwedAward, Tenant } from '@laurel/money-path/domain';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { ChallengeServiceService, OutcomeReport } from '@laurel/proto/challenge';
import type { Event } from '@laurel/proto/events';
import type { Clock, Logger } from '@laurel/service';
import type { Signer } from '@laurel/signature';
import { type Attempt, type Award, type Outcome, playerIdentity } from '../domain/challenge.ts';
import { decideOutcome, type OutcomeDecision } from '../domain/outcome-decision.ts';
import { composeReceipt } from '../domain/receipt.ts';
import { attemptSettled } from '../events.ts';
import {
  type AttemptWithTerms,
  findAttempt,
  lockAttempts,
  settleAttempts,
  spoilAttempts,
} from '../repository/attempts.ts';
import { claimAwards, loadAwards } from '../repository/awards.ts';
import {
  type BarSample,
  insertBarSamples,
  insertOutcomes,
  loadOutcomes,
  type SignedOutcome,
} from '../repository/outcomes.ts';
import { presentOutcome } from './present.ts';

type Report = {
  readonly operationId: string;
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly score: number;
  /** An object as JSON text, or empty. */
  readonly evidence: string;
};

/** What the commit made of a report. */
type Settlement =
  | { readonly kind: 'recorded'; readonly outcome: Outcome; readonly award: OwedAward<Award> | null }
  | { readonly kind: 'settled_before' }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'due' }
  | Refused;

export type OutcomeSettlements = Coalescer<Report, Settlement>;

type SettleDeps = {
  readonly signer: Signer;
  readonly signingKeyId: number;
  readonly opener: AttemptOpener;
  readonly outbox: Outbox;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
};

type Deps = {
  database: Database;
  settlements: OutcomeSettlements;
  opener: AttemptOpener;
  resolver: PendingResolver;
  expirer: AttemptExpirer;
  payer: AwardPayer<Award>;
  clock: Clock;
  logger: Logger;
};

// A pending attempt is resolved once and then settles; more rounds than this would be a bug.
const MAX_ROUNDS = 3;

export function createOutcomeSettlements(deps: SettleDeps & { readonly database: Database }): OutcomeSettlements {
  return createCoalescer<Report, Settlement>({
    name: 'report-outcomes',
    // The row locks keep two lanes apart; within a batch the first report on an attempt wins.
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(batch) {
      const { settlements, events } = await deps.database.transaction((tx) => settle(tx, batch, deps), {
        beforeCommit: () => failpoint('challenge.outcome.before-commit'),
      });
      await failpoint('challenge.outcome.after-commit');
      deps.outbox.publish(events);
      return settlements;
    },
  });
}

export function reportOutcomes(deps: Deps): Handlers<ChallengeServiceService>['reportOutcomes'] {
  return async ({ reports }) => {
    const results = await Promise.all(
      parseItems(reports).map((item) =>
        answerItem(item, () => reportOne(item, deps), { logger: deps.logger, failure: 'report failed' }),
      ),
    );
    await failpoint('challenge.reply.before-send');
    return { results };
  };
}

async function reportOne(item: OutcomeReport, deps: Deps) {
  const result = await reportOutcome(parseReport(item), deps);
  if (isRefused(result)) return result;
  return { $case: 'outcome' as const, value: presentOutcome(result.outcome, result.award) };
}

function parseReport(item: OutcomeReport): Report {
  if (!Number.isFinite(item.score)) throw new Error('a score is not finite');
  return {
    operationId: parseId(item.operationId),
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    score: item.score,
    evidence: item.evidenceJson,
  };
}

async function reportOutcome(
  report: Report,
  deps: Deps,
): Promise<{ readonly outcome: Outcome; readonly award: Award | null } | Refused> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const settlement = await deps.settlements.submit(report);
    switch (settlement.kind) {
      case 'refused':
        return settlement;
      case 'recorded':
        return {
          outcome: settlement.outcome,
          award: settlement.award === null ? null : await deps.payer.settle(settlement.award),
        };
      case 'settled_before':
        return answerRepeat(report, deps);
      case 'due':
        // The hour decides, not the sweep. The refund is the sweeper's to post.
        await deps.expirer.expire(report.attemptId, deps.clock());
        return refused('attempt_already_settled');
      case 'unresolved':
        if (!(await resolvePending(report, deps))) return refused('not_found');
    }
  }
  throw new Error(`attempt ${report.attemptId} stayed unresolved for ${MAX_ROUNDS} rounds`);
}

/** The operation that recorded the outcome is told it again; whoever else reports comes too late. */
async function answerRepeat(
  report: Report,
  { database, payer }: Deps,
): Promise<{ readonly outcome: Outcome; readonly award: Award | null } | Refused> {
  const outcome = (await loadOutcomes(database, [report.attemptId])).get(report.attemptId);
  if (outcome === undefined) throw new Error(`attempt ${report.attemptId} is settled without an outcome`);
  if (outcome.receiptId !== receiptIdOf(report.operationId)) return refused('attempt_already_settled');
  const owed = (await loadAwards(database, [report.attemptId])).get(report.attemptId);
  return { outcome, award: owed === undefined ? null : await payer.settle(owed) };
}

/** Whether the attempt turned out to be paid for. Otherwise nobody was ever told of it. */
async function resolvePending(report: Report, { database, resolver, clock }: Deps): Promise<boolean> {
  const found = await findAttempt(database, report.attemptId);
  if (found === null || found.attempt.status === 'refused') return false;
  if (found.attempt.status !== 'pending') return true;
  const { resolution, written } = await resolver.resolve(found.attempt, clock());
  await written;
  return resolution.kind === 'posted';
}

// The commit.

async function settle(
  tx: Transaction,
  batch: readonly Report[],
  deps: SettleDeps,
): Promise<{ readonly settlements: readonly Settlement[]; readonly events: readonly Event[] }> {
  const locked = await lockAttempts(tx, [...new Set(batch.map((report) => report.attemptId))]);
  const now = deps.clock();
  const decisions = decideInOrder(batch, locked, deps, now);

  const claims = decisions.flatMap(({ report, found, decision }) =>
    found !== null && decision.kind === 'settled' && decision.claimsPrize ? [claimOf(report, found.attempt)] : [],
  );
  const won = await claimAwards(tx, claims, now);

  const spoiled: string[] = [];
  const signed: SignedOutcome[] = [];
  const samples: BarSample[] = [];
  const events: Event[] = [];
  const settlements = decisions.map(({ report, found, decision }): Settlement => {
    if (decision.kind === 'spoiled') {
      spoiled.push(report.attemptId);
      return refused('score_out_of_range');
    }
    if (decision.kind !== 'settled' || found === null) return decision as Exclude<OutcomeDecision, SettledOrSpoiled>;

    const claim = won.has(report.attemptId) ? claimOf(report, found.attempt) : null;
    const outcome: Outcome = {
      attemptId: report.attemptId,
      receiptId: receiptIdOf(report.operationId),
      score: report.score,
      metThreshold: decision.metThreshold,
      thresholdApplied: found.attempt.threshold,
      recordedAt: now,
    };
    const receipt = deps.signer.sign(composeReceipt({ ...found, outcome, award: claim, evidence: report.evidence }));
    signed.push({ outcome, receipt: receipt.canonical, signature: receipt.signature });
    if (countsForBar(found)) samples.push(sampleOf(found.attempt, report.score));
    if (claim === null) {
      events.push(attemptSettled({ tenant: found.terms.tenant, attempt: found.attempt, outcome, award: null }));
    }
    return {
      kind: 'recorded',
      outcome,
      award:
        claim === null
          ? null
          : { award: { ...claim, status: 'paying', createdAt: now, paidAt: null }, tenant: found.terms.tenant },
    };
  });

  const settled = signed.map(({ outcome }) => outcome.attemptId);
  // They do not depend on each other and go out together.
  await tx.commitWith((last) =>
    Promise.all([
      spoiled.length === 0 ? undefined : spoilAttempts(last, spoiled, now),
      settled.length === 0 ? undefined : settleAttempts(last, settled),
      settled.length === 0 ? undefined : insertOutcomes(last, signed, deps.signingKeyId),
      insertBarSamples(last, samples),
      deps.outbox.insert(last, events),
    ]),
  );
  return { settlements, events };
}

type SettledOrSpoiled = Extract<OutcomeDecision, { kind: 'settled' | 'spoiled' }>;

type Decided = { readonly report: Report; readonly found: AttemptWithTerms | null; readonly decision: OutcomeDecision };

/** Each report is decided on what the reports before it made of the attempt. */
function decideInOrder(
  batch: readonly Report[],
  locked: ReadonlyMap<string, AttemptWithTerms>,
  { opener, attemptTtlMs }: { opener: AttemptOpener; attemptTtlMs: number },
  now: Date,
): readonly Decided[] {
  const current = new Map(locked);
  return batch.map((report) => {
    const found = current.get(report.attemptId) ?? null;
    const decision = decideOutcome({
      tenant: report.tenant,
      attempt: found?.attempt ?? null,
      terms: found?.terms ?? null,
      score: report.score,
      feePosted: opener.isKnownPosted(report.attemptId),
      ttlMs: attemptTtlMs,
      now,
    });
    if (found !== null && decision.kind === 'settled') {
      current.set(report.attemptId, { ...found, attempt: { ...found.attempt, status: 'settled' } });
    }
    if (found !== null && decision.kind === 'spoiled') {
      current.set(report.attemptId, { ...found, attempt: { ...found.attempt, status: 'open', spoiledAt: now } });
    }
    return { report, found, decision };
  });
}

function claimOf(report: Report, attempt: Attempt): Omit<Award, 'status' | 'createdAt' | 'paidAt'> {
  if (attempt.accountId === null) throw new Error(`attempt ${attempt.id} can win a prize and has no account`);
  return {
    id: awardIdOf(report.operationId, 'challenge'),
    attemptId: attempt.id,
    challengeId: attempt.challengeId,
    accountId: attempt.accountId,
    amountCents: attempt.prizeCents,
  };
}

/** Scores of free attempts calibrate; a top_n challenge is read off all its scores. */
function countsForBar({ attempt, terms }: AttemptWithTerms): boolean {
  return attempt.threshold === null || terms.prizeStructure === 'top_n';
}

function sampleOf(attempt: Attempt, score: number): BarSample {
  return {
    challengeId: attempt.challengeId,
    attemptId: attempt.id,
    player: playerIdentity(attempt.accountId, attempt.playerRef),
    score,
  };
}
