/** RemoveInsider: removes the mark that links an account to a program's own developer account. */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { RemoveInsiderRequest, RemoveInsiderResponse } from '@laurel/proto/wallet';
import { isUuid } from '@laurel/values/ids';
import { deleteInsider } from '../repository/accounts.ts';

export function removeInsider({ database }: { database: Database }) {
  return async ({ programId, accountId }: RemoveInsiderRequest): Promise<RemoveInsiderResponse | Refused> => {
    if (!isUuid(programId) || !isUuid(accountId)) return refused('not_found');
    return (await deleteInsider(database, { programId, accountId })) ? {} : refused('not_found');
  };
}
