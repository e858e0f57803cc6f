/** ListPayouts: the operator's list, newest first. */

import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { findName, PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import type { ListPayoutsRequest, ListPayoutsResponse } from '@laurel/proto/wallet';
import { cutPage, decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { pageSize } from '../domain/page-size.ts';
import { withDecisions } from '../repository/payout-decisions.ts';
import { listPayouts as loadPayouts } from '../repository/payouts.ts';
import { presentPayout } from './present.ts';

const MAX_PAGE = 200;

export function listPayouts({ database }: { database: Database }) {
  return async (request: ListPayoutsRequest): Promise<ListPayoutsResponse | Refused> => {
    const before = request.cursor === '' ? TOP : decodePosition(request.cursor);
    if (before === null) return refused('invalid_request', 'The cursor is not valid.');
    const limit = pageSize(request.limit, MAX_PAGE);
    const status = findName(PAYOUT_STATUSES, request.status) ?? null;

    // One payout more than requested shows whether there is another page.
    const found = await loadPayouts(database, { status, before, limit: limit + 1 });
    const { page, last } = cutPage(found, limit);
    return {
      payouts: (await withDecisions(database, page)).map(presentPayout),
      nextCursor: last === null ? '' : encodePosition({ at: last.createdAt, id: last.awardId }),
    };
  };
}
