/** ListPayouts: the operator's list, newest first. */
import { type Refused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import { type ListPayoutsRequest, type ListPayoutsResponse, PayoutStatus } from '@laurel/proto/wallet';
import type { Payout } from '../domain/award-decision.ts';
import { decodeCursor, encodeCursor, pageSize } from '../domain/page-cursor.ts';
import { listPayouts as loadPayouts } from '../repository/payouts.ts';
import { presentPayout } from './present.ts';

const MAX_PAGE = 200;
const FIRST_PAGE = {
  createdAt: new Date('9999-12-31T00:00:00.000Z'),
  awardId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

const STATUS: ReadonlyMap<PayoutStatus, Payout['status']> = new Map([
  [PayoutStatus.PAID, 'paid'],
  [PayoutStatus.HELD, 'held'],
  [PayoutStatus.DENIED, 'denied'],
]);

export function listPayouts({ database }: { database: Database }) {
  return async (request: ListPayoutsRequest): Promise<ListPayoutsResponse | Refused> => {
    const before = request.cursor === '' ? FIRST_PAGE : parseCursor(request.cursor);
    if (before === null) return refused('invalid_request', 'The cursor is not valid.');
    const limit = pageSize(request.limit, MAX_PAGE);
    const status = STATUS.get(request.status) ?? null;

    // One more than asked for tells whether there is another page.
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
  const [createdAt = '', awardId = ''] = decodeCursor(cursor, 2) ?? [];
  const date = new Date(createdAt);
  return Number.isNaN(date.getTime()) || !isUuid(awardId) ? null : { createdAt: date, awardId };
}
