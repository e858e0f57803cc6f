/**
 * The commit of ResolveFees, for a batch of queries: writes a tombstone for each query that asks
 * for one and whose transfer id is unused, then reads the stored fees.
 */
import type { Coalescer } from '@laurel/coalesce';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { Environment } from '@laurel/values/tenant';
import type { StoredFee } from '../domain/fee-decision.ts';
import { failpoint } from '../failpoints.ts';
import { insertTombstones, loadStoredFees } from '../repository/fees.ts';
import { createTransferBatches } from './transfer-batches.ts';

export type FeeQuery = {
  readonly transferId: string;
  readonly tombstoneIfAbsent: boolean;
  readonly environment: Environment;
};

export type FeeQueryBatches = Coalescer<FeeQuery, StoredFee | null>;

export function createFeeQueryBatches(deps: { database: Database; clock: Clock }): FeeQueryBatches {
  return createTransferBatches({
    name: 'resolve_fees',
    idOf: (query) => query.transferId,
    keyOf: (query) => query.transferId,
    environmentOf: ({ environment }) => environment,
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
      // A charge may have posted the fee before the tombstone was written, so only the stored state
      // counts.
      return await loadStoredFees(tx, transferIds);
    },
    { beforeCommit: () => failpoint('wallet.resolve.before-commit') },
  );
  await failpoint('wallet.resolve.after-commit');
  return resolved;
}
