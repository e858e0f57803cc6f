/** ListFees: posted fees page by page, for the audit across services. */
import type { Database } from '@laurel/postgres';
import type { ListFeesRequest, ListFeesResponse } from '@laurel/proto/wallet';
import { pageSize } from '../domain/page-cursor.ts';
import { listFees as loadFees } from '../repository/fees.ts';
import { LOWEST_ID, parseId } from './parse.ts';

const MAX_PAGE = 5_000;

export function listFees({ database }: { database: Database }) {
  return async ({ afterAttemptId, limit }: ListFeesRequest): Promise<ListFeesResponse> => {
    const after = afterAttemptId === '' ? LOWEST_ID : parseId(afterAttemptId);
    const fees = await loadFees(database, after, pageSize(limit, MAX_PAGE));
    return {
      fees: fees.map((fee) => ({
        attemptId: fee.attempt_id,
        feeCents: fee.amount_cents,
        refunded: fee.refunded,
        accountId: fee.account_id,
      })),
    };
  };
}
