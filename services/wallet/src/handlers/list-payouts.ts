/** ListPayouts: the operator's list, newest first. */

import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { ENVIRONMENTS, findName, PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import type { ListPayoutsRequest, ListPayoutsResponse } from '@laurel/proto/wallet';
import { decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { isUuid } from '@laurel/values/ids';
import { pageSize } from '../domain/page-size.ts';
import { withDecisions } from '../repository/payout-decisions.ts';
import { listPayouts as loadPayouts, type PayoutFilter } from '../repository/payout-list.ts';
import { presentPayout } from './present.ts';

const MAX_PAGE = 200;

export function listPayouts({ database }: { database: Database }) {
  return async (request: ListPayoutsRequest): Promise<ListPayoutsResponse | Refused> => {
    const before = request.cursor === '' ? TOP : decodePosition(request.cursor);
    if (before === null) return refused('invalid_request', 'The cursor is not valid.');
    const filter = parseFilter(request);
    if (filter === null) return refused('invalid_request', 'A filter is not an id.');

    const { payouts, readTo } = await loadPayouts(database, filter, {
      before,
      limit: pageSize(request.limit, MAX_PAGE),
    });
    return {
      payouts: (await withDecisions(database, payouts)).map(presentPayout),
      nextCursor: readTo === null ? '' : encodePosition(readTo),
    };
  };
}

function parseFilter({ status, accountId, programId, environment }: ListPayoutsRequest): PayoutFilter | null {
  if ([accountId, programId].some((id) => id !== undefined && !isUuid(id))) return null;
  return {
    status: findName(PAYOUT_STATUSES, status) ?? null,
    accountId: accountId ?? null,
    programId: programId ?? null,
    environment: environment === undefined ? null : (findName(ENVIRONMENTS, environment) ?? null),
  };
}
