/** ListAccounts: the operator's list of accounts, newest first. */
import { type Refused, refused } from '@laurel/errors';
import { parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { ACCOUNT_FLAGS, findName } from '@laurel/proto/enum-names';
import type { ListAccountsRequest, ListAccountsResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { cutPage, decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { pageSize } from '../domain/page-size.ts';
import { listAccounts as loadAccounts } from '../repository/account-list.ts';
import { parsePlayer } from './parse.ts';
import { presentAccount } from './present.ts';

const MAX_PAGE = 200;

export function listAccounts({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: ListAccountsRequest): Promise<ListAccountsResponse | Refused> => {
    const before = request.cursor === '' ? TOP : decodePosition(request.cursor);
    if (before === null) return refused('invalid_request', 'The cursor is not valid.');
    const limit = pageSize(request.limit, MAX_PAGE);
    const filter = {
      email: request.email || null,
      player: request.player === undefined ? null : parsePlayer(request.player),
      flag: findName(ACCOUNT_FLAGS, request.flag) ?? null,
      sandboxOf: request.sandboxOf === '' ? null : parseId(request.sandboxOf),
    };
    // One account more than requested shows whether there is another page.
    const found = await loadAccounts(database, filter, { now: clock(), beforeId: before.id, limit: limit + 1 });
    const { page, last } = cutPage(found, limit);
    return {
      accounts: page.map(presentAccount),
      nextCursor: last === null ? '' : encodePosition({ at: last.createdAt, id: last.id }),
    };
  };
}
