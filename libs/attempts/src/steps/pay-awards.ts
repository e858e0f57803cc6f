/**
 * Pays awards, and finishes awards that a crash interrupted. A prize that was won is owed: `paying`
 * only goes on to `paid` or `held`, `holding` to `held`, `releasing` to `paid`, `denying` to
 * `denied`. The wallet decides once per award id and gives a repeat the same result, so any process
 * can retry at any time. The contest service records the wallet's decision after the wallet's
 * response, together with its own events. It does so without fsync, because the wallet can be asked
 * again.
 *
 * What a crash leaves after each step:
 * 1. The contest service's commit of the award: the prize is claimed and the award is `paying` or
 *    `holding`. A retry, a read or the sweeper asks the wallet.
 * 2. The wallet's commit: the payout is decided and the award's row is unchanged. The same callers
 *    ask again, and the wallet returns the stored decision.
 * 3. The commit that records status and event: the event is not published. The relay publishes it.
 *
 * The report that won the award knows the award's event, so one statement records status and event.
 * Any other caller reads the event in the transaction.
 */
import { createCoalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import type { Outbox, OutboxRow } from '@laurel/events';
import { type Database, isConnectionFailure, type Queryable } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import {
  type AwardStatus,
  isUnfinished,
  type OwedAward,
  type PayableAward,
  type PayoutOf,
  type PayoutRecord,
  type PrizeOf,
} from '../domain/award.ts';
import { failpoint } from '../failpoints.ts';
import { findAwardReview } from '../repository/award-reviews.ts';
import type { Wallet } from '../wallet.ts';

/** The contest service's table of awards: challenge awards, or the payouts of a round. */
export interface AwardTable {
  /**
   * Loads awards that are between the commits of the two services, created at this instant or
   * before, oldest first.
   */
  loadUnfinishedAwards(
    database: Database,
    createdUntil: Date,
    limit: number,
  ): Promise<readonly OwedAward<PayableAward>[]>;
  /**
   * Writes the status that the wallet returned for each award, if the award still has the status
   * with which the wallet was called. Returns the events of the awards that changed; the caller
   * writes these events to the outbox in the same transaction. The commit is not durable. `payouts`
   * may name an award twice.
   */
  recordPayouts(on: Queryable, payouts: readonly PayoutOf[]): Promise<readonly Event[]>;
  /**
   * Does what `recordPayouts` does, for payouts whose events the caller knows. One statement, which
   * is its own transaction, writes the status and event of each award that still has the status.
   * The commit is not durable. Returns the ids of the awards that changed. Without this method,
   * `recordPayouts` records these payouts too.
   */
  recordWithEvents?(
    database: Database,
    payouts: readonly (PayoutOf & { readonly event: OutboxRow })[],
  ): Promise<ReadonlySet<string>>;
  findAward(database: Database, id: string): Promise<OwedAward<PayableAward> | null>;
  /** Changes the status of the award from `from` to `to`. False if the status was not `from`. */
  changeAwardStatus(on: Queryable, id: string, from: AwardStatus, to: AwardStatus): Promise<boolean>;
}

/**
 * Returns the event that follows from the wallet's decision; null if the event must be read. The
 * award already has the decided status.
 */
export type EventOf = (award: PayableAward) => Event | null;

export interface AwardPayer {
  /**
   * Completes an award that is between two commits, and returns it with the wallet's decision.
   * Returns any other award unchanged. A caller that passes `eventOf` saves the round trip that
   * reads the event.
   */
  complete(owed: OwedAward<PayableAward>, eventOf?: EventOf): Promise<PayableAward>;
  /** Does what `complete` does, and resolves only once the decision is recorded. */
  completeAndRecord(owed: OwedAward<PayableAward>): Promise<PayableAward>;
  runOnce(now: Date): Promise<void>;
  drain(): Promise<void>;
}

// The report that won a younger award is still paying it.
const AGE_BEFORE_SWEEP_MS = 2_000;
const PAGE = 200;

export function createAwardPayer(deps: {
  contestService: ContestServiceName;
  database: Database;
  wallet: Wallet;
  logger: Logger;
  awards: AwardTable;
  outbox: Outbox;
}): AwardPayer {
  const { contestService, database, wallet, logger, awards, outbox } = deps;

  type PayoutToRecord = { readonly payout: PayoutOf; readonly event: Event | null };

  const records = createCoalescer<PayoutToRecord, void>({
    name: 'record-payouts',
    isolate: (error) => !isConnectionFailure(error),
    async run(records) {
      await recordWithEvents(records.flatMap(({ payout, event }) => (event === null ? [] : { payout, event })));
      await recordAndReadEvents(records.flatMap(({ payout, event }) => (event === null ? payout : [])));
      return records.map(() => undefined);
    },
  });

  async function recordWithEvents(known: readonly { payout: PayoutOf; event: Event }[]): Promise<void> {
    if (known.length === 0 || awards.recordWithEvents === undefined) return;
    const rows = outbox.rowsOf(known.map(({ event }) => event));
    const payouts = known.flatMap(({ payout }, index) => {
      const event = rows[index];
      return event === undefined ? [] : { ...payout, event };
    });
    // The statement is its own transaction, so this failpoint before the commit runs before the
    // statement is sent.
    await failpoint(`${contestService}.award.before-commit`);
    const moved = await awards.recordWithEvents(database, payouts);
    await failpoint(`${contestService}.award.after-commit`);
    outbox.publish(known.flatMap(({ payout, event }) => (moved.has(payout.awardId) ? event : [])));
  }

  async function recordAndReadEvents(payouts: readonly PayoutOf[]): Promise<void> {
    if (payouts.length === 0) return;
    const events = await database.transaction(
      async (tx) => {
        const moved = await awards.recordPayouts(tx, payouts);
        await tx.commitWith((last) => outbox.insert(last, moved));
        return moved;
      },
      { durable: false, beforeCommit: () => failpoint(`${contestService}.award.before-commit`) },
    );
    await failpoint(`${contestService}.award.after-commit`);
    outbox.publish(events);
  }

  async function ask({ award, tenant }: OwedAward<PayableAward>): Promise<PayoutRecord> {
    if (award.status === 'releasing' || award.status === 'denying') {
      const review = await findAwardReview(database, award.id);
      const decide = award.status === 'releasing' ? wallet.releasePayout : wallet.denyPayout;
      return decidedPayout(await decide(award.id, review), award.id);
    }
    await failpoint(`${contestService}.award.before-pay`);
    const { id: awardId, accountId, amountCents } = award;
    const holdReason = award.status === 'holding' ? 'challenge_suspended' : undefined;
    const payout = await wallet.payAward({ ...prizeOf(award), awardId, tenant, accountId, amountCents, holdReason });
    await failpoint(`${contestService}.award.after-pay`);
    return payout;
  }

  /**
   * Returns the payout. If the wallet refused because the payout was decided otherwise meanwhile,
   * reads that decision, which counts.
   */
  async function decidedPayout(answer: PayoutRecord | Refused, awardId: string): Promise<PayoutRecord> {
    if (!isRefused(answer)) return answer;
    const payout = await wallet.getPayout(awardId);
    if (isRefused(payout)) throw new Error(`the wallet knows no payout of the award ${awardId}`);
    return payout;
  }

  async function completeWith(
    owed: OwedAward<PayableAward>,
    { waitForRecord, eventOf }: { readonly waitForRecord: boolean; readonly eventOf?: EventOf | undefined },
  ): Promise<PayableAward> {
    if (!isUnfinished(owed.award)) return owed.award;
    const payout = await ask(owed);
    const award = { ...owed.award, status: payout.status, paidAt: payout.paidAt };
    const event = awards.recordWithEvents === undefined ? null : (eventOf?.(award) ?? null);
    const record = { payout: { ...payout, asked: owed.award.status }, event };
    const recorded = records.submit(record).catch((error: unknown) => {
      logger.warn({ err: error, awardId: payout.awardId }, 'the sweeper will have to write what the wallet decided');
    });
    if (waitForRecord) await recorded;
    return award;
  }

  return {
    complete: (owed, eventOf) => completeWith(owed, { waitForRecord: false, eventOf }),
    completeAndRecord: (owed) => completeWith(owed, { waitForRecord: true }),
    async runOnce(now) {
      const until = new Date(now.getTime() - AGE_BEFORE_SWEEP_MS);
      const owed = await awards.loadUnfinishedAwards(database, until, PAGE);
      const results = await Promise.allSettled(owed.map((award) => completeWith(award, { waitForRecord: true })));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
    },
    drain: () => records.drain(),
  };
}

function prizeOf(award: PrizeOf): PrizeOf {
  return 'roundId' in award ? { roundId: award.roundId } : { attemptId: award.attemptId };
}
