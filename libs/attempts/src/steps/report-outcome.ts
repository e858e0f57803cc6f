/**
 * Handles a report of a score: settle -> pay. The contest's commit settles the attempt, or returns
 * why it did not. If the attempt is not known to be paid for, the wallet resolves the fee and the
 * commit decides again. If the deadline or the contest is over, the attempt is ended. If the
 * attempt is already settled, only a repeat of the report that settled it gets the outcome.
 *
 * The wallet pays a prize before the response, because the response states the award's status. A
 * repeat of the report finds the outcome, and rolls the award forward first. If the wallet cannot
 * be reached after the commit, the item fails, and the retry or the sweeper pays.
 *
 * An operation id belongs to one report: one attempt, score, tiebreak and evidence. The receipt id
 * derives from the operation id and is unique in the database, so an operation settles at most one
 * attempt, even if several replicas act at once. The signed receipt states the report, so a
 * different report under the same operation id never gets the outcome. A report of the operation on
 * another attempt, or with other values, is refused as `attempt_already_settled`.
 *
 * If only the archive contains the receipt, only the score is compared. By then the gateway has
 * deleted the idempotency keys, and the integration service derives the operation id from the whole
 * report.
 */
import { type Refused, refused } from '@laurel/errors';
import { isUniqueViolation } from '@laurel/postgres';
import type { Contest, RecordedSettlement, Report, Settlement } from '../contest.ts';
import type { PayableAward } from '../domain/award.ts';
import type { RecordedOutcome } from '../domain/outcome.ts';
import type { RoundReason } from '../domain/refund-reason.ts';
import type { AwardPayer } from './pay-awards.ts';
import { statesReport } from './reported-fields.ts';
import type { RollForwardDeps } from './roll-forward.ts';

export type ReportDeps = Pick<RollForwardDeps, 'opener' | 'resolver' | 'expirer' | 'clock' | 'loadAttempt'> & {
  readonly contest: Pick<Contest, 'settle' | 'settledWithAward' | 'loadOutcome' | 'loadReceipt' | 'findAwardOf'>;
  readonly payer: AwardPayer;
};

export type ReportedOutcome = {
  readonly outcome: RecordedOutcome;
  readonly award: PayableAward | null;
  /** True if an earlier report of the same operation recorded the outcome. */
  readonly repeated: boolean;
};

type Sent = Omit<Report, 'feePosted'>;

// A pending attempt is resolved once and then settles, so more rounds than this would be a bug.
const MAX_ROUNDS = 3;

export async function reportOutcome(report: Sent, deps: ReportDeps): Promise<ReportedOutcome | Refused> {
  const { attemptId } = report;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const settlement = await settleUnderOwnId(report, deps);
    switch (settlement.kind) {
      case 'refused':
        return settlement;
      case 'recorded':
        deps.opener.settled(attemptId);
        return { outcome: settlement.outcome, award: await pay(settlement, deps), repeated: false };
      case 'settled_before':
        return answerAgain(report, settlement.receiptId, deps);
      case 'due':
        // The deadline counts even if no sweep has run since. The sweeper posts the refund.
        await deps.expirer.expire(attemptId, deps.clock());
        return refused('attempt_already_settled');
      case 'over':
        return endWithContest(attemptId, settlement.reason, deps);
      case 'unresolved':
        if (!(await isPaidFor(report, deps))) return refused('not_found');
    }
  }
  throw new Error(`attempt ${attemptId} stayed unresolved for ${MAX_ROUNDS} rounds`);
}

async function settleUnderOwnId(report: Sent, { contest, opener }: ReportDeps): Promise<Settlement> {
  try {
    if (opener.isAwaited) await opener.written(report.attemptId);
    return await contest.settle({ ...report, feePosted: opener.isKnownPosted(report.attemptId) });
  } catch (error) {
    // Only another attempt can have this receipt: a second report on the same attempt waits for the
    // attempt's lock, and then finds the attempt settled.
    if (isUniqueViolation(error, 'outcomes_receipt_id_key')) return refused('attempt_already_settled');
    throw error;
  }
}

/** Pays the award, and returns it with the wallet's decision; null if the outcome won no award. */
async function pay({ won, outcome }: RecordedSettlement, { contest, payer }: ReportDeps): Promise<PayableAward | null> {
  if (won === null) return null;
  return await payer.complete(won, (award) => contest.settledWithAward?.({ ...won, award }, outcome) ?? null);
}

async function answerAgain(
  report: Sent,
  receiptId: string,
  { contest, payer }: ReportDeps,
): Promise<ReportedOutcome | Refused> {
  const outcome = await contest.loadOutcome(report.attemptId);
  if (outcome.receiptId !== receiptId) return refused('attempt_already_settled');
  const receipt = await contest.loadReceipt(receiptId);
  const isSame = receipt === null ? outcome.score === report.score : statesReport(receipt, report);
  if (!isSame) return refused('attempt_already_settled');
  const owed = await contest.findAwardOf(report.attemptId);
  return { outcome, award: owed === null ? null : await payer.complete(owed), repeated: true };
}

async function endWithContest(attemptId: string, reason: RoundReason, deps: ReportDeps): Promise<Refused> {
  await deps.expirer.expire(attemptId, deps.clock(), { evenIfYoung: true, reason });
  return refused('round_closed');
}

/**
 * Asks the wallet whether the attempt is paid for. An attempt that is not paid for was never shown
 * to a partner.
 */
async function isPaidFor(
  { attemptId, tenant: { environment } }: Sent,
  { resolver, clock, loadAttempt }: ReportDeps,
): Promise<boolean> {
  const attempt = await loadAttempt(attemptId);
  if (attempt === null || attempt.status === 'refused') return false;
  if (attempt.status !== 'pending') return true;
  const { resolution, written } = await resolver.resolve({ ...attempt, environment }, clock());
  await written;
  return resolution.kind === 'posted';
}
