/**
 * How a report of a score is answered. The owner's commit settles the attempt, or returns why it did not: an attempt that is not known to
 * be paid for is resolved with the wallet, and the commit decides again; one whose deadline has passed is ended; one that is already
 * settled answers only the report that settled it.
 *
 * An operation id belongs to one report: one attempt, score, tiebreak and evidence. The receipt id derives from it and is unique in the
 * owner's database, so it settles at most one attempt, whatever replicas do concurrently; and the signed receipt states the report, so
 * that another report under the same id is never answered as this one. Both are refused as `attempt_already_settled`.
 */
import { type Refused, refused } from '@laurel/errors';
import { isUniqueViolation } from '@laurel/postgres';
import type { Environment } from '@laurel/tenant';
import { type ReportedFields, statesReport } from './reported-fields.ts';
import type { RollForwardDeps } from './roll-forward.ts';

/** `Recorded` is what the owner's commit returns for an outcome that it has written. */
type RecordedOutcome = { readonly kind: 'recorded'; readonly outcome: { readonly receiptId: string } };

/** The result of the owner's commit for a report. */
export type SettlementOf<Recorded extends RecordedOutcome> =
  | Recorded
  /** `receiptId` is the receipt of the operation that the report repeats, if it repeats one; see resolve-key-uses.ts. */
  | { readonly kind: 'settled_before'; readonly receiptId: string }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'due' }
  | Refused;

/** One report, and what its owner supplies. */
export type ReportPlan<Recorded extends RecordedOutcome> = {
  readonly attemptId: string;
  readonly environment: Environment;
  /** What the receipt states of the report. */
  readonly reported: ReportedFields;
  /** Rejects with a violation of `outcomes_receipt_id_key` where the operation has settled another attempt. */
  settle(): Promise<SettlementOf<Recorded>>;
  /** The outcome of the attempt, which is settled. */
  loadOutcome(): Promise<Recorded['outcome']>;
  /** The signed text of a receipt that is recorded. */
  loadReceipt(receiptId: string): Promise<string>;
};

/** The same report sent again gets the recorded outcome, marked `repeated`. */
export type ReportedOutcome<Recorded extends RecordedOutcome> =
  | Recorded
  | { readonly kind: 'repeated'; readonly outcome: Recorded['outcome'] };

export type ReportDeps = Pick<RollForwardDeps, 'resolver' | 'expirer' | 'clock' | 'loadAttempt'>;

// A pending attempt is resolved once and then settles; more rounds than this would be a bug.
const MAX_ROUNDS = 3;

export async function reportOutcome<Recorded extends RecordedOutcome>(
  plan: ReportPlan<Recorded>,
  deps: ReportDeps,
): Promise<ReportedOutcome<Recorded> | Refused> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const settlement = await settleUnderOwnId(plan);
    switch (settlement.kind) {
      case 'refused':
      case 'recorded':
        return settlement;
      case 'settled_before': {
        const outcome = await plan.loadOutcome();
        const isSameOperation = outcome.receiptId === settlement.receiptId;
        return isSameOperation && statesReport(await plan.loadReceipt(outcome.receiptId), plan.reported)
          ? { kind: 'repeated', outcome }
          : refused('attempt_already_settled');
      }
      case 'due':
        // The deadline decides, not the sweep. The sweeper posts the refund.
        await deps.expirer.expire(plan.attemptId, deps.clock());
        return refused('attempt_already_settled');
      case 'unresolved':
        if (!(await isPaidFor(plan, deps))) return refused('not_found');
    }
  }
  throw new Error(`attempt ${plan.attemptId} stayed unresolved for ${MAX_ROUNDS} rounds`);
}

async function settleUnderOwnId<Recorded extends RecordedOutcome>(
  plan: ReportPlan<Recorded>,
): Promise<SettlementOf<Recorded>> {
  try {
    return await plan.settle();
  } catch (error) {
    // Only another attempt can have this receipt: a report on the same one waits for its lock, and then finds it settled.
    if (isUniqueViolation(error, 'outcomes_receipt_id_key')) return refused('attempt_already_settled');
    throw error;
  }
}

/** Whether the attempt turns out to be paid for. Otherwise it was never shown to a partner. */
async function isPaidFor(
  { attemptId, environment }: Pick<ReportPlan<RecordedOutcome>, 'attemptId' | 'environment'>,
  { resolver, clock, loadAttempt }: ReportDeps,
): Promise<boolean> {
  const attempt = await loadAttempt(attemptId);
  if (attempt === null || attempt.status === 'refused') return false;
  if (attempt.status !== 'pending') return true;
  const { resolution, written } = await resolver.resolve({ ...attempt, environment }, clock());
  await written;
  return resolution.kind === 'posted';
}
