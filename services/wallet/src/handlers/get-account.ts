/** GetAccount: one account, for an operator. */
import { type Refused, refused } from '@laurel/errors';
import { presentTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { GetAccountRequest, GetAccountResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import { loadAccount } from '../repository/accounts.ts';
import { feeWindowStart, listChargedFees } from '../repository/charged-fees.ts';
import { presentAccount } from './present.ts';

/** The limit is above the number of programs that a person plays in a day. */
const MAX_PROGRAMS = 100;

export function getAccount({ database, clock }: { database: Database; clock: Clock }) {
  return async ({ accountId }: GetAccountRequest): Promise<GetAccountResponse | Refused> => {
    const account = isUuid(accountId) ? await loadAccount(database, accountId) : null;
    if (account === null) return refused('not_found');
    const charges = await listChargedFees(database, account.id, {
      since: feeWindowStart(clock()),
      limit: MAX_PROGRAMS,
    });
    return {
      account: presentAccount(account),
      charges: charges.map(({ chargedCents, ...program }) => ({ tenant: presentTenant(program), chargedCents })),
    };
  };
}
