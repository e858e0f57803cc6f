/**
 * Rolls awards forward. A prize that was won is owed: `paying` only ever goes on to `paid` or `held`, `releasing` to `paid`, `denying` to
 * `denied`. The wallet decides once per award id and answers a repeat alike, so any process can retry at any time. The wallet's decision is
 * recorded after the answer, without fsync, together with the owner's events of it: the wallet can be asked again.
 */
import { createCoalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import type { Outbox } from '@laurel/events';
import type { AttemptOwner } from '@laurel/ids';
import { type Database, isConnectionFailure, type Queryable } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import {
  type AwardStatus,
  isUnfinished,
  type OwedAward,
  type PayableAward,
  type PayoutOf,
  type PayoutRecord,
  type PrizeOf,
} from './domain/award.ts';
import { failpoint } from './failpoints.ts';
import type { Wallet } from './wallet.ts';

/** The owner's table of awards: challenge awards, or the payouts of a round. */
export interface AwardTable<Award extends PayableAward> {
  /** Awards between two commits, created up to and including the instant, oldest first. */
  loadUnfinishedAwards(database: Database, createdUntil: Date, limit: number): Promise<readonly OwedAward<Award>[]>;
  /**
   * Writes each status that the wallet answered, where the award still has the status for which the wallet was called. Returns the events
   * of the awards that moved, which go into the outbox in the same transaction; the commit is not durable. The same award may be named
   * twice.
   */
  recordPayouts(on: Queryable, payouts: readonly PayoutOf[]): Promise<readonly Event[]>;
  findAward(database: Database, id: string): Promise<OwedAward<Award> | null>;
  /** Moves the award from the first status to the second. False where it was not in the first. */
  moveAward(database: Database, id: string, from: AwardStatus, to: AwardStatus): Promise<boolean>;
}

export interface AwardPayer<Award extends PayableAward> {
  /** The award with the wallet's final decision; the award itself where nothing was under way. */
  complete(owed: OwedAward<Award>): Promise<Award>;
  /** As `complete`, and the decision is written to the award before it resolves. */
  completeAndRecord(owed: OwedAward<Award>): Promise<Award>;
  runOnce(now: Date): Promise<void>;
  drain(): Promise<void>;
}

// A younger award is still being handled by the report that won it.
const AGE_BEFORE_SWEEP_MS = 2_000;
const PAGE = 200;

export function createAwardPayer<Award extends PayableAward>(deps: {
  owner: AttemptOwner;
  database: Database;
  wallet: Wallet;
  logger: Logger;
  awards: AwardTable<Award>;
  outbox: Outbox;
}): AwardPayer<Award> {
  const { owner, database, wallet, logger, awards, outbox } = deps;

  const records = createCoalescer<PayoutOf, void>({
    name: 'record-payouts',
    isolate: (error) => !isConnectionFailure(error),
    async run(payouts) {
      const events = await database.transaction(
        async (tx) => {
          const moved = await awards.recordPayouts(tx, payouts);
          await tx.commitWith((last) => outbox.insert(last, moved));
          return moved;
        },
        { durable: false, beforeCommit: () => failpoint(`${owner}.award.before-commit`) },
      );
      await failpoint(`${owner}.award.after-commit`);
      outbox.publish(events);
      return payouts.map(() => undefined);
    },
  });

  async function ask({ award, tenant }: OwedAward<Award>): Promise<PayoutRecord> {
    if (award.status === 'releasing') return decidedPayout(await wallet.releasePayout(award.id), award.id);
    if (award.status === 'denying') return decidedPayout(await wallet.denyPayout(award.id), award.id);
    await failpoint(`${owner}.award.before-pay`);
    const { id: awardId, accountId, amountCents } = award;
    const payout = await wallet.payAward({ ...prizeOf(award), awardId, tenant, accountId, amountCents });
    await failpoint(`${owner}.award.after-pay`);
    return payout;
  }

  /** The payout was decided otherwise meanwhile: the wallet's decision wins. */
  async function decidedPayout(answer: PayoutRecord | Refused, awardId: string): Promise<PayoutRecord> {
    if (!isRefused(answer)) return answer;
    const payout = await wallet.getPayout(awardId);
    if (isRefused(payout)) throw new Error(`the wallet knows no payout of the award ${awardId}`);
    return payout;
  }

  async function completeWith(owed: OwedAward<Award>, waitForRecord: boolean): Promise<Award> {
    if (!isUnfinished(owed.award)) return owed.award;
    const payout = await ask(owed);
    const recorded = records.submit({ ...payout, asked: owed.award.status }).catch((error: unknown) => {
      logger.warn({ err: error, awardId: payout.awardId }, 'the sweeper will have to write what the wallet decided');
    });
    if (waitForRecord) await recorded;
    return { ...owed.award, status: payout.status, paidAt: payout.paidAt };
  }

  return {
    complete: (owed) => completeWith(owed, false),
    completeAndRecord: (owed) => completeWith(owed, true),
    async runOnce(now) {
      const until = new Date(now.getTime() - AGE_BEFORE_SWEEP_MS);
      const owed = await awards.loadUnfinishedAwards(database, until, PAGE);
      const results = await Promise.allSettled(owed.map((award) => completeWith(award, true)));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
    },
    drain: () => records.drain(),
  };
}

function prizeOf(award: PrizeOf): PrizeOf {
  return 'roundId' in award ? { roundId: award.roundId } : { attemptId: award.attemptId };
}
