/**
 * ReportOutcomes, as libs/money-path/src/report-outcome.ts tells it. Here is the commit: it settles the attempt, claims the prize, and
 * writes the outcome with its signed receipt. A prize that was won is then paid by the wallet, before the answer; the award says so right
 * behind it.
 *
 * An attempt that this process opened itself is decided on what is remembered of it, and settled by one statement that takes effect only
 * where all of that is still true. Whatever it leaves out, and every other report, is decided under the lock on its row.
 *
 * An outcome without an award is told to partners by the commit that records it; one with an award by the commit that records what the
 * wallet made of the award (libs/money-path/src/pay-awards.ts), so that both are told together.
 *
 * The same operation id again finds its outcome and answers it, rolling an award forward first. When the wallet cannot be reached after
 * the commit the item is a fault; the retry, or the sweeper, pays.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { isRefused, refused } from '@laurel/errors';
import type { Outbox } from '@laurel/events';
import { failpoint } from '@laurel/failpoint';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import { awardIdOf, receiptIdOf } from '@laurel/ids';
import {
  type AttemptOpener,
  type AwardPayer,
  answerItems,
  type ReportDeps,
  type ReportPlan,
  reportOutcome,
  type SettlementOf,
} from '@laurel/money-path';
import type { OwedAward, Tenant } from '@laurel/money-path/domain';
import { type Database, isConnectionFailure, isUniqueViolation, type Transaction } from '@laurel/postgres';
import type { ChallengeServiceService, OutcomeReport } from '@laurel/proto/challenge';
import type { Event } from '@laurel/proto/events';
import type { Clock, Logger } from '@laurel/service';
import type { Signer } from '@laurel/signature';
import type { AttemptMemory } from '../domain/attempt-memory.ts';
import { type AttemptTerms, type Award, type Outcome, playerIdentity } from '../domain/challenge.ts';
import { type AttemptInPlay, decideOutcome, type OutcomeDecision } from '../domain/outcome-decision.ts';
import { composeReceipt } from '../domain/receipt.ts';
import { attemptSettled } from '../events.ts';
import { type AttemptWithTerms, lockAttempts, settleAttempts, spoilAttempts } from '../repository/attempts.ts';
import { claimAwards, findAwardOfAttempt } from '../repository/awards.ts';
import {
  type BarSample,
  insertBarSamples,
  insertOutcomes,
  loadOutcome,
  type SignedOutcome,
  settleAsRemembered,
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

type Recorded = { readonly kind: 'recorded'; readonly outcome: Outcome; readonly award: OwedAward<Award> | null };

/** What the commit made of a report. */
type Settlement = SettlementOf<Recorded>;

export type OutcomeSettlements = Coalescer<Report, Settlement>;

type SettleDeps = {
  readonly signer: Signer;
  readonly signingKeyId: number;
  readonly attempts: AttemptMemory;
  readonly opener: AttemptOpener;
  readonly outbox: Outbox;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
};

type Deps = ReportDeps & {
  database: Database;
  settlements: OutcomeSettlements;
  payer: AwardPayer<Award>;
  logger: Logger;
};

export function createOutcomeSettlements(deps: SettleDeps & { readonly database: Database }): OutcomeSettlements {
  return createCoalescer<Report, Settlement>({
    name: 'report-outcomes',
    // The row locks keep two lanes apart; within a batch the first report on an attempt wins.
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(batch) {
      const settled = await settleRemembered(batch, deps);
      const rest = batch.filter((report) => !settled.has(report));
      const others = rest.length === 0 ? [] : await settleUnderLock(rest, deps);
      for (const [index, report] of rest.entries()) settled.set(report, others[index] as Settlement);
      return batch.map((report) => settled.get(report) as Settlement);
    },
  });
}

export function reportOutcomes(deps: Deps): Handlers<ChallengeServiceService>['reportOutcomes'] {
  const options = { owner: 'challenge', logger: deps.logger, failure: 'report failed' } as const;
  return ({ reports }) => answerItems(reports, (item) => reportOne(item, deps), options);
}

async function reportOne(item: OutcomeReport, deps: Deps) {
  const report = parseReport(item);
  const reported = await reportOutcome(planOf(report, deps), deps);
  if (isRefused(reported)) return reported;
  const owed =
    reported.kind === 'recorded' ? reported.award : await findAwardOfAttempt(deps.database, report.attemptId);
  const award = owed === null ? null : await deps.payer.settle(owed);
  return { $case: 'outcome' as const, value: presentOutcome(reported.outcome, award) };
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

/** The commit is ours; the rest is the money path. */
function planOf(report: Report, { database, settlements }: Deps): ReportPlan<Recorded> {
  const { attemptId, operationId } = report;
  return {
    attemptId,
    operationId,
    settle: () => settlements.submit(report),
    loadOutcome: () => loadOutcome(database, attemptId),
  };
}

// One statement for what is remembered.

/** An outcome that is composed and signed, and not recorded yet. */
type Draft = {
  readonly report: Report;
  readonly attempt: AttemptInPlay;
  readonly terms: AttemptTerms;
  readonly signed: SignedOutcome;
  readonly claim: Claim | null;
  /** Null where there is an award to wait for. */
  readonly event: Event | null;
};

/** The reports whose attempts were still what this process remembers. The others had no effect. */
async function settleRemembered(
  batch: readonly Report[],
  deps: SettleDeps & { readonly database: Database },
): Promise<Map<Report, Settlement>> {
  const drafts = draftRemembered(batch, deps);
  if (drafts.length === 0) return new Map();

  await failpoint('challenge.outcome.before-commit');
  const rows = drafts.map(({ attempt, signed, claim, event }) => ({
    ...signed,
    attempt,
    awardId: claim?.id ?? null,
    event: event === null ? null : (deps.outbox.rowsOf([event])[0] ?? null),
  }));
  const settledIds = await settleAsRemembered(deps.database, rows, deps.signingKeyId).catch((error: unknown) => {
    // Another transaction took the prize, or recorded the operation, at this very moment. What it made true can be read now.
    if (isUniqueViolation(error)) return new Set<string>();
    throw error;
  });
  if (settledIds.size > 0) await failpoint('challenge.outcome.after-commit');

  const recorded = drafts.filter(({ attempt }) => settledIds.has(attempt.id));
  // What was remembered of the others is wrong by now.
  for (const { attempt } of drafts) deps.attempts.forget(attempt.id);
  for (const { attempt } of recorded) deps.opener.settled(attempt.id);
  deps.outbox.publish(recorded.flatMap(({ event }) => (event === null ? [] : [event])));
  return new Map(recorded.map((draft) => [draft.report, settlementOf(draft)]));
}

/** Of an attempt, and of an account's claims to a challenge, only the first report may be decided without the others. */
function draftRemembered(batch: readonly Report[], deps: SettleDeps): readonly Draft[] {
  const now = deps.clock();
  const seen = new Set<string>();
  return batch.flatMap((report) => {
    if (seen.has(report.attemptId)) return [];
    seen.add(report.attemptId);
    const found = deps.attempts.recall(report.attemptId);
    if (found === null || countsForBar(found)) return [];
    const decision = decideOutcome({ ...report, ...found, feePosted: true, ttlMs: deps.attemptTtlMs, now });
    if (decision.kind !== 'settled') return [];
    const claim = decision.claimsPrize ? claimOf(report, found.attempt) : null;
    if (claim !== null) {
      const prize = `${claim.challengeId}:${claim.accountId}`;
      if (seen.has(prize)) return [];
      seen.add(prize);
    }
    return [draftOf({ report, found, metThreshold: decision.metThreshold, claim, now }, deps)];
  });
}

// The transaction for everything else.

async function settleUnderLock(
  batch: readonly Report[],
  deps: SettleDeps & { readonly database: Database },
): Promise<readonly Settlement[]> {
  const { settlements, events } = await deps.database.transaction((tx) => settle(tx, batch, deps), {
    beforeCommit: () => failpoint('challenge.outcome.before-commit'),
  });
  await failpoint('challenge.outcome.after-commit');
  for (const [index, { attemptId }] of batch.entries()) {
    deps.attempts.forget(attemptId);
    if (settlements[index]?.kind === 'recorded') deps.opener.settled(attemptId);
  }
  deps.outbox.publish(events);
  return settlements;
}

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
  const drafts: Draft[] = [];
  const settlements = decisions.map(({ report, found, decision }): Settlement => {
    if (decision.kind === 'spoiled') {
      spoiled.push(report.attemptId);
      return refused('score_out_of_range');
    }
    if (decision.kind !== 'settled' || found === null) return decision as Exclude<OutcomeDecision, SettledOrSpoiled>;
    const claim = won.has(report.attemptId) ? claimOf(report, found.attempt) : null;
    const draft = draftOf({ report, found, metThreshold: decision.metThreshold, claim, now }, deps);
    drafts.push(draft);
    return settlementOf(draft);
  });

  const events = drafts.flatMap(({ event }) => (event === null ? [] : [event]));
  const samples = drafts.flatMap((draft) =>
    countsForBar(draft) ? [sampleOf(draft.attempt, draft.signed.outcome.score)] : [],
  );
  const settled = drafts.map(({ attempt }) => attempt.id);
  // They do not depend on each other and go out together.
  await tx.commitWith((last) =>
    Promise.all([
      spoiled.length === 0 ? undefined : spoilAttempts(last, spoiled, now),
      settled.length === 0 ? undefined : settleAttempts(last, settled),
      settled.length === 0
        ? undefined
        : insertOutcomes(
            last,
            drafts.map(({ signed }) => signed),
            deps.signingKeyId,
          ),
      insertBarSamples(last, samples),
      deps.outbox.insert(last, events),
    ]),
  );
  return { settlements, events };
}

/** The outcome of a report that settles, with its receipt. The claim is what took the prize. */
function draftOf(
  facts: {
    readonly report: Report;
    readonly found: { readonly attempt: AttemptInPlay; readonly terms: AttemptTerms };
    readonly metThreshold: boolean;
    readonly claim: Claim | null;
    readonly now: Date;
  },
  { signer }: Pick<SettleDeps, 'signer'>,
): Draft {
  const { report, found, metThreshold, claim, now } = facts;
  const outcome: Outcome = {
    attemptId: report.attemptId,
    receiptId: receiptIdOf(report.operationId),
    score: report.score,
    metThreshold,
    thresholdApplied: found.attempt.threshold,
    recordedAt: now,
  };
  const receipt = signer.sign(composeReceipt({ ...found, outcome, award: claim, evidence: report.evidence }));
  return {
    ...found,
    report,
    claim,
    signed: { outcome, receipt: receipt.canonical, signature: receipt.signature },
    event:
      claim === null
        ? attemptSettled({ tenant: found.terms.tenant, attempt: found.attempt, outcome, award: null })
        : null,
  };
}

function settlementOf({ signed: { outcome }, claim, terms }: Draft): Settlement {
  if (claim === null) return { kind: 'recorded', outcome, award: null };
  const award: Award = { ...claim, status: 'paying', createdAt: outcome.recordedAt, paidAt: null };
  return { kind: 'recorded', outcome, award: { award, tenant: terms.tenant } };
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

type Claim = Omit<Award, 'status' | 'createdAt' | 'paidAt'>;

function claimOf(report: Report, attempt: AttemptInPlay): Claim {
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
function countsForBar({ attempt, terms }: { attempt: AttemptInPlay; terms: AttemptTerms }): boolean {
  return attempt.threshold === null || terms.prizeStructure === 'top_n';
}

function sampleOf(attempt: AttemptInPlay, score: number): BarSample {
  return {
    challengeId: attempt.challengeId,
    attemptId: attempt.id,
    player: playerIdentity(attempt.accountId, attempt.playerRef),
    score,
  };
}
