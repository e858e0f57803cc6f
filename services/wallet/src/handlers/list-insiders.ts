/** ListInsiders: the accounts of the partner's own people, page by page. */
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WalletServiceService } from '@laurel/proto/wallet';
import { listInsiders as listStoredInsiders } from '../repository/accounts.ts';

export function listInsiders({ database }: { database: Database }): Handlers<WalletServiceService>['listInsiders'] {
  return async ({ programId, beforeAccountId, limit }) => ({
    insiders: await listStoredInsiders(database, {
      programId: parseId(programId),
      beforeAccountId: beforeAccountId === undefined ? null : parseId(beforeAccountId),
      limit,
    }),
  });
}
