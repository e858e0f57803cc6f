/**
 * Rolls awards forward. A prize that was won is owed: `paying` only ever goes on to `paid` or `held`, `releasing` to `paid`, `denying`
 * to `denied`. The wallet decides once per award id and answers a repeat alike, so this can be done again at any time by anyone.
 * What the wallet said is written behind, without fsync: it can be asked again.
 */
import { createCoalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import { failpoint } from '@laurel/failpoint';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import type { Wallet } from '../clients/wallet.ts';
import type { Award } from '../domain/challenge.ts';
import {
  type AwardWithTenant,
  loadUnfinishedAwards,
  type PayoutOf,
  type PayoutRecord,
  recordPayouts,
} from '../repository/awards.ts';

export interface AwardPayer {
  /** The award as the wallet has it, settled; the award itself where nothing was under way. */
  settle(owed: AwardWithTenant): Promise<Award>;
  /** As settle, and the award says so too before it resolves. */
  settleAndRecord(owed: AwardWithTenant): Promise<Award>;
  runOnce(now: Date): Promise<void>;
  drain(): Promise<void>;
}

// A younger award is still in the hands of the report that won it.
const AGE_BEFORE_SWEEP_MS = 2_000;
const PAGE = 200;

export function createAwardPayer(deps: { database: Database; wallet: Wallet; logger: Logger }): AwardPayer {
  const { database, wallet, logger } = deps;

  const records = createCoalescer<PayoutOf, void>({
    name: 'record-payouts',
    isolate: (error) => !isConnectionFailure(error),
    async run(payouts) {
      await failpoint('challenge.award.before-commit');
      await recordPayouts(database, payouts);
      await failpoint('challenge.award.after-commit');
      return payouts.map(() => undefined);
    },
  });

  async function ask({ award, tenant }: AwardWithTenant): Promise<PayoutRecord> {
    if (award.status === 'releasing') return truthOf(await wallet.releasePayout(award.id), award.id);
    if (award.status === 'denying') return truthOf(await wallet.denyPayout(award.id), award.id);
    await failpoint('challenge.award.before-pay');
    const payout = await wallet.payAward({
      awardId: award.id,
      attemptId: award.attemptId,
      tenant,
      accountId: award.accountId,
      amountCents: award.amountCents,
    });
    await failpoint('challenge.award.after-pay');
    return payout;
  }

  /** A payout that was decided the other way meanwhile: the wallet's word stands. */
  async function truthOf(answer: PayoutRecord | Refused, awardId: string): Promise<PayoutRecord> {
    if (!isRefused(answer)) return answer;
    const payout = await wallet.getPayout(awardId);
    if (isRefused(payout)) throw new Error(`the wallet knows no payout of the award ${awardId}`);
    return payout;
  }

  async function settleWith(owed: AwardWithTenant, waitForRecord: boolean): Promise<Award> {
    if (!isUnfinished(owed.award)) return owed.award;
    const payout = await ask(owed);
    const recorded = records.submit({ ...payout, asked: owed.award.status }).catch((error: unknown) => {
      logger.warn({ err: error, awardId: payout.awardId }, 'the sweeper will have to write what the wallet decided');
    });
    if (waitForRecord) await recorded;
    return { ...owed.award, status: payout.status, paidAt: payout.paidAt };
  }

  return {
    settle: (owed) => settleWith(owed, false),
    settleAndRecord: (owed) => settleWith(owed, true),
    async runOnce(now) {
      const until = new Date(now.getTime() - AGE_BEFORE_SWEEP_MS);
      const owed = await loadUnfinishedAwards(database, until, PAGE);
      const results = await Promise.allSettled(owed.map((award) => settleWith(award, true)));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
    },
    drain: () => records.drain(),
  };
}

function isUnfinished({ status }: Award): boolean {
  return status === 'paying' || status === 'releasing' || status === 'denying';
}
