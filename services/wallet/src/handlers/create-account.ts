/** CreateAccount: opens a person's account, or a sandbox account of a program. */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { CreateAccountRequest, CreateAccountResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { checkAccountDetails } from '../domain/account-details.ts';
import { LIVE_HOUSE } from '../domain/ledger.ts';
import { insertAccount } from '../repository/accounts.ts';
import { openHouse } from '../repository/houses.ts';
import { presentAccount } from './present.ts';

export function createAccount({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: CreateAccountRequest): Promise<CreateAccountResponse | Refused> => {
    const now = clock();
    const details = checkAccountDetails(request, now);
    if (isRefused(details)) return details;
    const programId = request.programId === undefined ? null : parseId(request.programId);
    const account = await database.transaction(async (tx) => {
      if (programId !== null) await openHouse(tx, programId);
      return await insertAccount(tx, { ...details, id: newId(now), houseId: programId ?? LIVE_HOUSE, createdAt: now });
    });
    if (account === null) return refused('conflict', 'There is an account with this e-mail address.');
    return { account: presentAccount(account) };
  };
}
