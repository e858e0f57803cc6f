/** GetAccount: one account, for an operator. */
import { type Refused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type { GetAccountRequest, GetAccountResponse } from '@laurel/proto/wallet';
import { loadAccount } from '../repository/accounts.ts';
import { presentAccount } from './present.ts';

export function getAccount({ database }: { database: Database }) {
  return async ({ accountId }: GetAccountRequest): Promise<GetAccountResponse | Refused> => {
    const account = isUuid(accountId) ? await loadAccount(database, accountId) : null;
    return account === null ? refused('not_found') : { account: presentAccount(account) };
  };
}
