/**
 * The commit of PayAwards, for a batch of payouts: each is paid, or held with its reason.
 *
 * One optimistic statement, which never holds a payout, pays those that no rule holds. A
 * transaction that locks the players decides the rest. Only it holds payouts, opens a player's row
 * of the ledger, and returns a payout that was decided before (decisions 9 and 21).
 *
 * What a crash leaves, after each step:
 * 1. before the statement is sent: nothing. The contest service asks again under the same award id.
 * 2. after the commit of the statement: its payouts are paid, the other payouts of the batch are
 *    undecided. The contest service has no response and asks again. The statement then fails,
 *    because an award is paid already. The transaction returns the paid payout as stored and
 *    decides the others.
 * 3. in the transaction under lock, before its commit: as after 2.
 * 4. after the commit of the transaction: the whole batch is decided. The contest service asks
 *    again and gets the stored payouts.
 *
 * If a payment repeats a payout's id with other terms, both the statement and the transaction fail
 * and change nothing. The coalescer then runs the batch's items one by one, so that only this
 * payment fails.
 */
import { type Coalescer, runOptimisticBatch } from '@laurel/coalesce';
import { type Database, isUniqueViolation } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { type Counter, counter } from '@laurel/telemetry';
import { awardTransferId } from '@laurel/values/ids';
import { LRUCache } from 'lru-cache';
import { playerLedgerId } from '../domain/ledger.ts';
import { decidePayouts, type Payout, type PayoutRequest, paidPayout } from '../domain/payout-decision.ts';
import { maxRecentPayouts, NO_PROGRAM_LIMIT, type VelocityLimits } from '../domain/payout-hold.ts';
import { type DefaultLimits, programKeyOf } from '../domain/program-limits.ts';
import { failpoint } from '../failpoints.ts';
import { lockOpenPlayers, playerLedgerKeyOf, withOpenPlayers, writeChanges } from '../repository/ledger.ts';
import { payOptimistically } from '../repository/optimistic-payouts.ts';
import { insertPayouts, loadPayoutFacts, velocityWindowStart } from '../repository/payouts.ts';
import { countProgramPayouts, lockPrograms, withOpenPrograms } from '../repository/program-limits.ts';
import { createTransferBatches } from './transfer-batches.ts';

export type AwardPaymentBatches = Coalescer<PayoutRequest, Payout>;

// A player in this cache takes about 150 bytes.
const MAX_HELD_PLAYERS = 20_000;

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: VelocityLimits;
  readonly defaults: DefaultLimits;
};
/**
 * Players whose last payout was held, and programs at their limit. Their payouts skip the
 * statement: it would leave them out, and take longer for the other payouts.
 */
type WithheldDeps = Deps & { readonly withheld: LRUCache<string, true>; readonly countTried: Counter<'outcome'> };

export function createAwardPaymentBatches(deps: Deps): AwardPaymentBatches {
  const countTried = counter(
    'laurel_wallet_optimistic_payouts_total',
    'Payouts tried without their players locked first: posted, or left to the transaction under lock.',
    ['outcome'],
  );
  const withWithheld = { ...deps, withheld: new LRUCache<string, true>({ max: MAX_HELD_PLAYERS }), countTried };
  return createTransferBatches<PayoutRequest, Payout>({
    name: 'pay_awards',
    idOf: (payment) => awardTransferId(payment.awardId),
    keyOf: ledgerIdOf,
    environmentOf: ({ environment }) => environment,
    run: (batch) =>
      runOptimisticBatch<PayoutRequest, Payout>(batch, {
        optimistic: (payments) => pay(payments, withWithheld),
        underLock: (payments) =>
          withOpenPrograms(deps.database, payments, () =>
            withOpenPlayers(deps.database, payments.map(playerLedgerKeyOf), () =>
              decideUnderLock(payments, withWithheld),
            ),
          ),
      }),
  });
}

/** Pays each payout that no rule holds. Returns null for every other payout. */
async function pay(
  payments: readonly PayoutRequest[],
  { database, clock, limits, defaults, withheld, countTried }: WithheldDeps,
): Promise<readonly (Payout | null)[]> {
  const now = clock();
  const tried = payments.filter(
    (payment) =>
      payment.contestServiceHold === undefined &&
      !withheld.has(ledgerIdOf(payment)) &&
      !withheld.has(programKeyOf(payment)),
  );
  if (tried.length === 0) return payments.map(() => null);

  // The statement is its own transaction, so the failpoint before its commit comes before it is
  // sent.
  await failpoint('wallet.payout.before-commit');
  let paid: ReadonlySet<string>;
  try {
    const payouts = tried.map((payment) => ({ payment, mostRecent: maxRecentPayouts({ ...payment, limits }) }));
    paid = await payOptimistically(database, payouts, { now, defaults });
  } catch (error) {
    // An award was decided earlier, so the statement failed and paid nothing.
    if (!isUniqueViolation(error)) throw error;
    return payments.map(() => null);
  }
  if (paid.size > 0) await failpoint('wallet.payout.after-commit');
  countTried.inc({ outcome: 'posted' }, paid.size);
  countTried.inc({ outcome: 'left' }, tried.length - paid.size);
  return payments.map((payment) => (paid.has(ledgerIdOf(payment)) ? paidPayout(payment, now) : null));
}

/** Runs one transaction: locks, loads, decides, writes. */
async function decideUnderLock(
  payments: readonly PayoutRequest[],
  { database, clock, limits, defaults, withheld }: WithheldDeps,
): Promise<readonly Payout[]> {
  const payouts = await database.transaction(
    async (tx) => {
      const now = clock();
      // All statements are sent together; each one runs once the previous one has its locks. While
      // the locks are held, no other payout of these accounts and programs can commit, so the sums
      // of 24 hours cannot change.
      const [locked, programs, facts] = await Promise.all([
        lockOpenPlayers(tx, payments.map(playerLedgerKeyOf)),
        lockPrograms(tx, payments, { since: velocityWindowStart(now), defaults }),
        loadPayoutFacts(tx, payments, now),
      ]);
      const withPrograms = facts.map((known, index) => {
        const payment = payments[index];
        const program = payment === undefined ? undefined : programs.get(programKeyOf(payment));
        return { ...known, program: program ?? NO_PROGRAM_LIMIT };
      });
      const decision = decidePayouts({ payments, facts: withPrograms, locked, limits, now });
      await tx.commitWith((last) =>
        Promise.all([
          countProgramPayouts(last, decision.programs),
          insertPayouts(last, decision.fresh),
          writeChanges(last, decision.changes, now),
        ]),
      );
      return decision.payouts;
    },
    { beforeCommit: () => failpoint('wallet.payout.before-commit') },
  );
  for (const payout of payouts) {
    updateWithheld(payout, withheld);
  }
  await failpoint('wallet.payout.after-commit');
  return payouts;
}

/**
 * Keeps `withheld` up to date with a decided payout. If the program is at its limit, marks the
 * program and not the player: a smaller award may still fit. Once such an award is paid, the
 * program's payouts use the statement again.
 */
function updateWithheld(payout: Payout, withheld: LRUCache<string, true>): void {
  if (payout.status === 'paid') {
    withheld.delete(ledgerIdOf(payout));
    withheld.delete(programKeyOf(payout));
  } else {
    withheld.set(payout.reason === 'program_velocity' ? programKeyOf(payout) : ledgerIdOf(payout), true);
  }
}

function ledgerIdOf({ accountId, environment }: PayoutRequest): string {
  return playerLedgerId(accountId, environment);
}
