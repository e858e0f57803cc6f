/** ResolveFees: whether fees were posted; can write tombstones for the ids that are free, so that a late charge can never be posted. */

import type { Coalescer } from '@laurel/coalesce';
import { parseId, parseItems, type RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import {
  type FeeResolution,
  FeeState,
  type ResolveFeesRequest,
  type ResolveFeesResponse,
  type FeeQuery as WireFeeQuery,
} from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import type { StoredFee } from '../domain/fee-decision.ts';
import { failpoint } from '../failpoints.ts';
import { insertTombstones, loadStoredFees } from '../repository/fees.ts';
import { checkOwnedFee, type NamedFee } from './owner-of-call.ts';
import { createTransferBatches } from './transfer-batches.ts';

type FeeQuery = NamedFee & { readonly tombstoneIfAbsent: boolean };

export type FeeQueries = Coalescer<FeeQuery, StoredFee | null>;

export function createFeeQueries(deps: { database: Database; clock: Clock }): FeeQueries {
  return createTransferBatches({
    name: 'resolve_fees',
    idOf: (query) => query.transferId,
    keyOf: (query) => query.transferId,
    run: (queries) => runQueries(deps, queries),
  });
}

async function runQueries(
  { database, clock }: { database: Database; clock: Clock },
  queries: readonly FeeQuery[],
): Promise<readonly (StoredFee | null)[]> {
  const transferIds = queries.map((query) => query.transferId);
  const stored = await loadStoredFees(database, transferIds);
  const absent = queries.filter((query, index) => query.tombstoneIfAbsent && stored[index] === null);
  if (absent.length === 0) return stored;

  const resolved = await database.transaction(
    async (tx) => {
      await insertTombstones(
        tx,
        absent.map((query) => query.transferId),
        clock(),
      );
      // A charge may have committed before the tombstone: only the stored state is the decision.
      return await loadStoredFees(tx, transferIds);
    },
    { beforeCommit: () => failpoint('wallet.resolve.before-commit') },
  );
  await failpoint('wallet.resolve.after-commit');
  return resolved;
}

export function resolveFees(
  queries: FeeQueries,
): (request: ResolveFeesRequest, context: RpcContext) => Promise<ResolveFeesResponse> {
  return async (request, context) => {
    const items = parseItems(request.queries).map(parseQuery);
    for (const item of items) checkOwnedFee(context, item);
    const stored = await Promise.all(items.map((item) => queries.submit(item)));
    return { resolutions: stored.map(presentResolution) };
  };
}

function parseQuery(query: WireFeeQuery): FeeQuery {
  return {
    transferId: parseId(query.transferId),
    attemptId: query.attemptId === '' ? null : parseId(query.attemptId),
    feeGeneration: query.feeGeneration,
    tombstoneIfAbsent: query.tombstoneIfAbsent,
  };
}

function presentResolution(stored: StoredFee | null): FeeResolution {
  if (stored === null) return { state: FeeState.ABSENT, refusalCode: '' };
  if (stored.state === 'posted') return { state: FeeState.POSTED, refusalCode: '' };
  return { state: FeeState.TOMBSTONE, refusalCode: stored.refusalCode ?? '' };
}
