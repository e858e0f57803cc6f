/** AddInsider: marks an account as linked to a program's own developer account. */

import { type Refused, refused } from '@laurel/errors';
import { parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { AddInsiderRequest, AddInsiderResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import { insertInsider, loadAccount } from '../repository/accounts.ts';

export function addInsider({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: AddInsiderRequest): Promise<AddInsiderResponse | Refused> => {
    const programId = parseId(request.programId);
    const account = isUuid(request.accountId) ? await loadAccount(database, request.accountId) : null;
    if (account === null) return refused('not_found');
    await insertInsider(database, { programId, accountId: account.id, createdAt: clock() });
    return {};
  };
}
