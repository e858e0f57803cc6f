/**
 * Executes what close-rounds.ts has decided. Every step may run again, after a crash or at another
 * replica: payouts and refunds have ids, by which they happen once, and each status moves once.
 *
 * - `settling`: the wallet pays or holds every payout. One commit then writes the seal and
 *   `settled` (seal-round.ts). Last, the fees of attempts that were open at the end are returned.
 * - `cancelling`: every fee is returned; then the round is `cancelled`.
 *
 * The commit that moves the round's status emits one event for its end; each refund emits the event
 * of its fee.
 *
 * The refunds are also in the queue that libs/attempts sweeps. This worker returns them itself, so
 * that a large round finishes within seconds, and a manually closed round finishes before the
 * response.
 */

import type { AttemptExpirer, AwardPayer } from '@laurel/attempts';
import type { Outbox } from '@laurel/events';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { Signer } from '@laurel/signature';
import { roundCancelled } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import { loadUndecidedPayouts } from '../repository/payouts.ts';
import { loadRefundsOfRound, type RefundPosition } from '../repository/refunds.ts';
import { findRound, loadUnfinishedRounds, type RoundWithTally } from '../repository/rounds.ts';
import { finishCancellation } from '../repository/settlement.ts';
import { eachRound } from './each-round.ts';
import { sealRound } from './seal-round.ts';

export interface RoundSettler {
  /** Finishes a decided round, including its last refund. */
  settle(roundId: string): Promise<void>;
  runOnce(now: Date): Promise<void>;
}

type SettleDeps = {
  database: Database;
  outbox: Outbox;
  payer: AwardPayer;
  expirer: Pick<AttemptExpirer, 'refundAll'>;
  signer: Signer;
  signingKeyId: number;
  clock: Clock;
};

const PAYOUT_PAGE = 200;
const REFUND_PAGE = 500;
// One round with very many refunds must not keep the others waiting.
const LANES = 4;

export function createRoundSettler(deps: SettleDeps): RoundSettler {
  const { database } = deps;

  async function settle(roundId: string): Promise<void> {
    const found = await findRound(database, roundId);
    if (found === null) throw new Error(`there is no round ${roundId}`);
    if (found.round.status === 'settling') {
      await payAll(roundId, deps);
      await sealRound(found, deps);
    }
    await refundAll(roundId, deps);
    if (found.round.status === 'cancelling') await endCancellation(found, deps);
  }

  return {
    settle,
    async runOnce(now) {
      const unfinished = await loadUnfinishedRounds(database, now);
      const decided = unfinished.filter(({ status }) => status !== 'open').map(({ id }) => id);
      await eachRound(decided, LANES, settle);
    },
  };
}

async function payAll(roundId: string, { database, payer }: SettleDeps): Promise<void> {
  const asked = new Set<string>();
  for (;;) {
    const unpaid = await loadUndecidedPayouts(database, roundId, PAYOUT_PAGE);
    if (unpaid.length === 0) return;
    for (const { award } of unpaid) {
      if (asked.has(award.id)) throw new Error(`the wallet’s decision on award ${award.id} could not be written`);
      asked.add(award.id);
    }
    const results = await Promise.allSettled(unpaid.map((owed) => payer.completeAndRecord(owed)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }
}

async function endCancellation({ round }: RoundWithTally, { database, outbox, clock }: SettleDeps): Promise<void> {
  const events = await database.transaction(async (tx) => {
    if (!(await finishCancellation(tx, round.id))) return [];
    const events = [roundCancelled(round, clock())];
    await outbox.insert(tx, events);
    await failpoint('tournament.cancel.before-commit');
    return events;
  });
  if (events.length === 0) return;
  await failpoint('tournament.cancel.after-commit');
  outbox.publish(events);
}

async function refundAll(roundId: string, { database, expirer }: SettleDeps): Promise<void> {
  for (let after: RefundPosition | null = null; ; ) {
    const due = await loadRefundsOfRound(database, roundId, after, REFUND_PAGE);
    await expirer.refundAll(due);
    after = due.at(-1)?.cursor ?? null;
    if (after === null) return;
  }
}
