/** ListGoodwill: the deposits that compensate for an attempt. */
import type { Database } from '@laurel/postgres';
import type { ListGoodwillRequest, ListGoodwillResponse } from '@laurel/proto/wallet';
import { isUuid } from '@laurel/values/ids';
import { loadGoodwill } from '../repository/statements.ts';

/** An attempt has few such deposits, because an operator makes each by hand. */
const MAX_DEPOSITS = 200;

export function listGoodwill({ database }: { database: Database }) {
  return async ({ attemptId }: ListGoodwillRequest): Promise<ListGoodwillResponse> => ({
    deposits: isUuid(attemptId) ? [...(await loadGoodwill(database, attemptId, MAX_DEPOSITS))] : [],
  });
}
