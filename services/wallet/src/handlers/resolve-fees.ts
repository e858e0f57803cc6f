/**
 * ResolveFees: whether fees were posted. It can write tombstones under free ids, so that a late
 * charge can never be posted. The commit is in commits/post-tombstones.ts.
 */
import { parseId, parseItems, type RpcContext } from '@laurel/grpc';
import {
  type FeeResolution,
  FeeState,
  type ResolveFeesRequest,
  type ResolveFeesResponse,
  type FeeQuery as WireFeeQuery,
} from '@laurel/proto/wallet';
import type { FeeQuery, FeeQueryBatches } from '../commits/post-tombstones.ts';
import type { StoredFee } from '../domain/fee-decision.ts';
import { checkOwnedFee, type NamedFee } from './contest-service-of-call.ts';
import { batchEnvironmentOf } from './parse.ts';

export function resolveFees(
  queries: FeeQueryBatches,
): (request: ResolveFeesRequest, context: RpcContext) => Promise<ResolveFeesResponse> {
  return async (request, context) => {
    const items = parseItems(request.queries).map(parseQuery);
    for (const item of items) checkOwnedFee(context, item);
    const stored = await Promise.all(items.map((item) => queries.submit(item)));
    return { resolutions: stored.map(presentResolution) };
  };
}

function parseQuery(query: WireFeeQuery): FeeQuery & NamedFee {
  return {
    transferId: parseId(query.transferId),
    attemptId: query.attemptId === '' ? null : parseId(query.attemptId),
    feeGeneration: query.feeGeneration,
    tombstoneIfAbsent: query.tombstoneIfAbsent,
    environment: batchEnvironmentOf(query.environment),
  };
}

function presentResolution(stored: StoredFee | null): FeeResolution {
  if (stored === null) return { state: FeeState.ABSENT, refusalCode: '' };
  if (stored.state === 'posted') return { state: FeeState.POSTED, refusalCode: '' };
  return { state: FeeState.TOMBSTONE, refusalCode: stored.refusalCode ?? '' };
}
