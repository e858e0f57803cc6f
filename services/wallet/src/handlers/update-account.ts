/**
 * UpdateAccount: changes the facts that decide an account's eligibility and payouts; absent fields
 * stay.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { UpdateAccountRequest, UpdateAccountResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import { checkFacts } from '../domain/account-details.ts';
import { updateAccount as writeAccount } from '../repository/accounts.ts';
import { parseLimit } from './parse.ts';
import { presentAccount } from './present.ts';

export function updateAccount({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: UpdateAccountRequest): Promise<UpdateAccountResponse | Refused> => {
    const { accountId, jurisdiction, verificationLevel, selfExcludedUntil } = request;
    if (!isUuid(accountId)) return refused('not_found');
    const issue = checkFacts({ jurisdiction, verificationLevel, selfExcludedUntil }, clock());
    if (issue !== null) return issue;
    const account = await writeAccount(database, accountId, {
      selfExcludedUntil,
      clearSelfExclusion: request.clearSelfExclusion,
      enforcementFlag: request.enforcementFlag,
      underInvestigation: request.underInvestigation,
      blocked: request.blocked,
      jurisdiction,
      verificationLevel,
      feeLimitCents: parseLimit(request.feeLimitCents, request.clearFeeLimit),
    });
    return account === null ? refused('not_found') : { account: presentAccount(account) };
  };
}
