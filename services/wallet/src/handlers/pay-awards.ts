/** PayAwards: decides each payout, of an award or a rank of a purse, once: paid or held. Moves the money of those that are paid. */

import type { Coalescer } from '@laurel/coalesce';
import { parseId, parseItems, parseTenant, type RpcContext } from '@laurel/grpc';
import { awardTransferId } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type { PayAwardsRequest, PayAwardsResponse, AwardPayment as WireAwardPayment } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { playerLedgerId } from '../domain/ledger.ts';
import { decidePayouts, type Payout, type PayoutRequest, type Win } from '../domain/payout-decision.ts';
import type { VelocityLimits } from '../domain/payout-hold.ts';
import { failpoint } from '../failpoints.ts';
import { lockOpenPlayers, playerKeyOf, withOpenPlayers, writeChanges } from '../repository/ledger.ts';
import { insertPayouts, loadPayoutFacts } from '../repository/payouts.ts';
import { checkIsOwner, checkOwned } from './owner-of-call.ts';
import { parseAmountAboveZero } from './parse.ts';
import { presentPayout } from './present.ts';
import { createTransferBatches } from './transfer-batches.ts';

type Payouts = Coalescer<PayoutRequest, Payout>;

export function createPayouts(deps: { database: Database; clock: Clock; limits: VelocityLimits }): Payouts {
  return createTransferBatches({
    name: 'pay_awards',
    idOf: (payment) => awardTransferId(payment.awardId),
    keyOf: (payment) => playerLedgerId(payment.accountId, payment.environment),
    run: (payments) => withOpenPlayers(deps.database, payments.map(playerKeyOf), () => runPayments(deps, payments)),
  });
}

async function runPayments(
  { database, clock, limits }: { database: Database; clock: Clock; limits: VelocityLimits },
  payments: readonly PayoutRequest[],
): Promise<readonly Payout[]> {
  const payouts = await database.transaction(
    async (tx) => {
      const now = clock();
      // Both are sent together; the second runs after the first has its locks. Under them no other payout of these accounts can
      // commit within the 24 hours that are being summed.
      const [locked, facts] = await Promise.all([
        lockOpenPlayers(tx, payments.map(playerKeyOf)),
        loadPayoutFacts(tx, payments, now),
      ]);
      const decision = decidePayouts({ payments, facts, locked, limits, now });
      await tx.commitWith((last) =>
        Promise.all([insertPayouts(last, decision.fresh), writeChanges(last, decision.changes, now)]),
      );
      return decision.payouts;
    },
    { beforeCommit: () => failpoint('wallet.payout.before-commit') },
  );
  await failpoint('wallet.payout.after-commit');
  return payouts;
}

export function payAwards(
  payments: Payouts,
): (request: PayAwardsRequest, context: RpcContext) => Promise<PayAwardsResponse> {
  return async (request, context) => {
    const items = parseItems(request.payments).map(parsePayment);
    for (const item of items) checkOwnPayment(context, item);
    const payouts = await Promise.all(items.map((item) => payments.submit(item)));
    await failpoint('wallet.reply.before-send');
    return { payouts: payouts.map(presentPayout) };
  };
}

function checkOwnPayment(context: RpcContext, payment: PayoutRequest): void {
  checkOwned(context, payment.awardId);
  if (payment.kind === 'award') checkOwned(context, payment.attemptId);
  else checkIsOwner(context, 'tournament');
}

function parsePayment(payment: WireAwardPayment): PayoutRequest {
  return {
    ...parseTenant(payment.tenant),
    ...parseWin(payment),
    awardId: parseId(payment.awardId),
    accountId: parseId(payment.accountId),
    amountCents: parseAmountAboveZero(payment.amountCents),
  };
}

function parseWin({ attemptId, roundId = '' }: WireAwardPayment): Win {
  if ((attemptId === '') === (roundId === '')) throw new Error('a payout names either its attempt or its round');
  return roundId === ''
    ? { kind: 'award', attemptId: parseId(attemptId) }
    : { kind: 'purse', roundId: parseId(roundId) };
}
