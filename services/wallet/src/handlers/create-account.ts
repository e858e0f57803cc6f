/** CreateAccount: opens a person's account. */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { newId } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type { CreateAccountRequest, CreateAccountResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { checkAccountDetails } from '../domain/account-details.ts';
import { insertAccount } from '../repository/accounts.ts';
import { presentAccount } from './present.ts';

export function createAccount({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: CreateAccountRequest): Promise<CreateAccountResponse | Refused> => {
    const now = clock();
    const details = checkAccountDetails(request, now);
    if (isRefused(details)) return details;
    const { email, dateOfBirth, jurisdiction, verificationLevel } = details;
    const account = await insertAccount(database, {
      id: newId(now),
      email,
      dateOfBirth,
      jurisdiction,
      verificationLevel,
      sandboxOnly: false,
      createdAt: now,
    });
    if (account === null) return refused('conflict', 'There is an account with this e-mail address.');
    return { account: presentAccount(account) };
  };
}
