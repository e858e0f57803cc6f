/** ListPayouts: the operator's list, newest first. */
import { type Refused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import { findName, PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import type { ListPayoutsRequest, ListPayoutsResponse } from '@laurel/proto/wallet';
import { decodeCursor, decodeInstant, encodeCursor, pageSize } from '../domain/page-cursor.ts';
import { listPayouts as loadPayouts } from '../repository/payouts.ts';
import { presentPayout } from './present.ts';

const MAX_PAGE = 200;
const FIRST_PAGE = {
  createdAt: new Date('9999-12-31T00:00:00.000Z'),
  awardId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

export function listPayouts({ database }: { database: Database }) {
  return async (request: ListPayoutsRequest): Promise<ListPayoutsResponse | Refused> => {
    const before = request.cursor === '' ? FIRST_PAGE : parseCursor(request.cursor);
    if (before === null) return refused('invalid_request', 'The cursor is not valid.');
    const limit = pageSize(request.limit, MAX_PAGE);
    const status = findName(PAYOUT_STATUSES, request.status) ?? null;

    // One payout more than requested shows whether there is another page.
    const found = await loadPayouts(database, { status, before, limit: limit + 1 });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      payouts: page.map(presentPayout),
      nextCursor:
        found.length > limit && last !== undefined ? encodeCursor([last.createdAt.toISOString(), last.awardId]) : '',
    };
  };
}

function parseCursor(cursor: string): typeof FIRST_PAGE | null {
  const [instant = '', awardId = ''] = decodeCursor(cursor, 2) ?? [];
  const createdAt = decodeInstant(instant);
  return createdAt === null || !isUuid(awardId) ? null : { createdAt, awardId };
}
