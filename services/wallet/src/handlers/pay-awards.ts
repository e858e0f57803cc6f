/**
 * PayAwards: decides each payout, of an award or a rank of a purse, once: paid or held. The commit
 * is in commits/post-payouts.ts.
 *
 * A payment that repeats a payout's id with other terms is logged, and has no status in the
 * response. So only this payment fails at the contest service: a round of 200 ranks with one such
 * rank gets the other 199 decisions.
 */
import { parseId, parseItems, parseTenant, type RpcContext } from '@laurel/grpc';
import type {
  PayAwardsRequest,
  PayAwardsResponse,
  AwardPayment as WireAwardPayment,
  Payout as WirePayout,
} from '@laurel/proto/wallet';
import type { Logger } from '@laurel/service';
import type { AwardPaymentBatches } from '../commits/post-payouts.ts';
import { type PayoutRequest, PayoutTermsError, type Win } from '../domain/payout-decision.ts';
import { failpoint } from '../failpoints.ts';
import { checkIsOwner, checkOwned } from './contest-service-of-call.ts';
import { parseAmountAboveZero } from './parse.ts';
import { presentPayout, presentUndecided } from './present.ts';

export function payAwards(deps: {
  payments: AwardPaymentBatches;
  logger: Logger;
}): (request: PayAwardsRequest, context: RpcContext) => Promise<PayAwardsResponse> {
  return async (request, context) => {
    const items = parseItems(request.payments).map(parsePayment);
    for (const item of items) checkOwnPayment(context, item);
    const payouts = await Promise.all(items.map((item) => pay(item, deps)));
    await failpoint('wallet.reply.before-send');
    return { payouts };
  };
}

async function pay(
  item: PayoutRequest,
  { payments, logger }: { payments: AwardPaymentBatches; logger: Logger },
): Promise<WirePayout> {
  try {
    return presentPayout(await payments.submit(item));
  } catch (error) {
    if (!(error instanceof PayoutTermsError)) throw error;
    logger.error({ err: error, awardId: item.awardId }, 'a payment repeats the id of a payout on other terms');
    return presentUndecided(item);
  }
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
    ...parseContestServiceHold(payment),
    awardId: parseId(payment.awardId),
    accountId: parseId(payment.accountId),
    amountCents: parseAmountAboveZero(payment.amountCents),
  };
}

/**
 * Only the challenge service may require a hold, and only for one reason: it has suspended the
 * challenge.
 */
function parseContestServiceHold({
  holdReason,
  roundId = '',
}: WireAwardPayment): Pick<PayoutRequest, 'contestServiceHold'> {
  if (holdReason === undefined) return {};
  if (holdReason !== 'challenge_suspended' || roundId !== '')
    throw new Error(`no contest service holds a payout for ${holdReason}`);
  return { contestServiceHold: holdReason };
}

function parseWin({ attemptId, roundId = '' }: WireAwardPayment): Win {
  if ((attemptId === '') === (roundId === '')) throw new Error('a payout names either its attempt or its round');
  return roundId === ''
    ? { kind: 'award', attemptId: parseId(attemptId) }
    : { kind: 'purse', roundId: parseId(roundId) };
}
