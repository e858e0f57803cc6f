/** LookUpId: the account or the payout that an id names, for operators. */
import { parseId, presentTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { FoundItem } from '@laurel/proto/common';
import { ITEM_KINDS } from '@laurel/proto/enum-names';
import type { LookUpIdRequest, LookUpIdResponse } from '@laurel/proto/wallet';
import { formatAmount } from '@laurel/values/money';
import type { Payout } from '../domain/payout-decision.ts';
import { type Account, loadAccount } from '../repository/accounts.ts';
import { loadPayout } from '../repository/payouts.ts';
import { presentAccount } from './present.ts';

export function lookUpId({ database }: { database: Database }) {
  return async (request: LookUpIdRequest): Promise<LookUpIdResponse> => {
    const id = parseId(request.id);
    const [account, payout] = await Promise.all([loadAccount(database, id), loadPayout(database, id)]);
    return {
      items: [
        ...(account === null ? [] : [presentFoundAccount(account)]),
        ...(payout === null ? [] : [presentFoundPayout(payout)]),
      ],
    };
  };
}

function presentFoundAccount(account: Account): FoundItem {
  const { programId } = presentAccount(account);
  return {
    kind: ITEM_KINDS.account,
    tenant: programId === undefined ? undefined : presentTenant({ programId, environment: 'test' }),
    attemptId: '',
    accountId: account.id,
    summary: account.email,
  };
}

function presentFoundPayout(payout: Payout): FoundItem {
  return {
    kind: ITEM_KINDS.award,
    tenant: presentTenant(payout),
    attemptId: payout.kind === 'award' ? payout.attemptId : '',
    accountId: payout.accountId,
    summary: `${formatAmount(payout.amountCents)}, ${payout.status}`,
  };
}
