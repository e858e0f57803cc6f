/**
 * PayAwards: decides each payout, of an award or a rank of a purse, once: paid or held. The commit is in post-payouts.ts.
 */
import { parseId, parseItems, parseTenant, type RpcContext } from '@laurel/grpc';
import type { PayAwardsRequest, PayAwardsResponse, AwardPayment as WireAwardPayment } from '@laurel/proto/wallet';
import type { PayoutRequest, Win } from '../domain/payout-decision.ts';
import { failpoint } from '../failpoints.ts';
import { checkIsOwner, checkOwned } from './owner-of-call.ts';
import { parseAmountAboveZero } from './parse.ts';
import type { AwardPayments } from './post-payouts.ts';
import { presentPayout } from './present.ts';

export function payAwards(
  payments: AwardPayments,
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
