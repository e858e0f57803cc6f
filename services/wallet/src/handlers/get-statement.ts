/** GetStatement: the balance and the transfers of an account, newest first. */

import { type Refused, refused } from '@laurel/errors';
import { parseEnvironment } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { GetStatementRequest, GetStatementResponse, StatementLine as WireLine } from '@laurel/proto/wallet';
import { cutPage, decodeCursor, encodeCursor } from '@laurel/values/cursor';
import { isUuid } from '@laurel/values/ids';
import { playerLedgerId } from '../domain/ledger.ts';
import { pageSize } from '../domain/page-size.ts';
import { loadAccount } from '../repository/accounts.ts';
import { loadStatement, type StatementLine } from '../repository/statements.ts';

const MAX_PAGE = 200;
const FIRST_PAGE = 2n ** 63n - 1n;

export function getStatement({ database }: { database: Database }) {
  return async (request: GetStatementRequest): Promise<GetStatementResponse | Refused> => {
    const { accountId, cursor } = request;
    const environment = parseEnvironment(request.environment);
    const beforeSeq = cursor === '' ? FIRST_PAGE : parseCursor(cursor);
    if (beforeSeq === null) return refused('invalid_request', 'The cursor is not valid.');
    if (!isUuid(accountId) || (await loadAccount(database, accountId)) === null) return refused('not_found');
    const limit = pageSize(request.limit, MAX_PAGE);

    // One line more than requested shows whether there is another page.
    const ledgerId = playerLedgerId(accountId, environment);
    const { balanceCents, lines } = await loadStatement(database, ledgerId, { beforeSeq, limit: limit + 1 });
    const { page, last } = cutPage(lines, limit);
    return {
      balanceCents,
      lines: page.map(presentLine),
      nextCursor: last === null ? '' : encodeCursor([String(last.seq)]),
    };
  };
}

function parseCursor(cursor: string): bigint | null {
  const [seq = ''] = decodeCursor(cursor, 1) ?? [];
  return /^\d{1,18}$/.test(seq) ? BigInt(seq) : null;
}

function presentLine(line: StatementLine): WireLine {
  return {
    id: line.id,
    kind: line.kind,
    amountCents: line.kind === 'fee' ? -line.amountCents : line.amountCents,
    balanceAfterCents: line.balanceAfterCents,
    reference: line.reference,
    createdAt: line.createdAt,
    attemptId: line.attemptId ?? undefined,
  };
}
