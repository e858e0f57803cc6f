/**
 * ChargeFees: decides a paid attempt. A fee is posted, or refused with a tombstone under its id;
 * either exactly once. The commit is in commits/post-fees.ts.
 */
import { DEFAULT_MESSAGE } from '@laurel/errors';
import { parseId, parseItems, type RpcContext } from '@laurel/grpc';
import type {
  ChargeFeesRequest,
  ChargeFeesResponse,
  FeeChargeResult,
  FeeCharge as WireFeeCharge,
} from '@laurel/proto/wallet';
import type { FeeChargeBatches } from '../commits/post-fees.ts';
import type { FeeCharge, FeeResult } from '../domain/fee-decision.ts';
import { failpoint } from '../failpoints.ts';
import { checkOwnedFee, type NamedFee } from './contest-service-of-call.ts';
import { parseAmountAboveZero, parsePlayer, parseRequirement } from './parse.ts';

export function chargeFees(
  charges: FeeChargeBatches,
): (request: ChargeFeesRequest, context: RpcContext) => Promise<ChargeFeesResponse> {
  return async (request, context) => {
    const items = parseItems(request.charges).map(parseCharge);
    for (const item of items) checkOwnedFee(context, item);
    const results = await Promise.all(items.map((item) => charges.submit(item)));
    await failpoint('wallet.reply.before-send');
    return { results: results.map(presentResult) };
  };
}

function parseCharge(charge: WireFeeCharge): FeeCharge & NamedFee {
  return {
    ...parsePlayer(charge.player),
    transferId: parseId(charge.transferId),
    attemptId: parseId(charge.attemptId),
    feeGeneration: charge.feeGeneration,
    accountId: charge.accountId === '' ? null : parseId(charge.accountId),
    feeCents: parseAmountAboveZero(charge.feeCents),
    requirement: parseRequirement(charge.requirement),
  };
}

function presentResult(result: FeeResult): FeeChargeResult {
  switch (result.kind) {
    case 'posted':
      return { result: { $case: 'posted', value: { postedAt: result.postedAt } } };
    case 'refused':
      return { result: { $case: 'refused', value: { code: result.code, message: DEFAULT_MESSAGE[result.code] } } };
    case 'moved':
      return { result: { $case: 'moved', value: { accountId: result.accountId ?? '' } } };
  }
}
