/** Deposit: brings external cash in, once per reference. */

import { isRefused, type Refused, refused } from '@laurel/errors';
import { parseEnvironment } from '@laurel/grpc';
import { hashId, isUuid } from '@laurel/ids';
import { type Cents, cents } from '@laurel/money';
import type { Database } from '@laurel/postgres';
import type { DepositRequest, DepositResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { type Environment, openBook, playerLedgerId } from '../domain/ledger.ts';
import { loadAccount } from '../repository/accounts.ts';
import { lockOpenPlayers, withOpenPlayers, writeChanges } from '../repository/ledger.ts';
import { loadDeposit } from '../repository/statements.ts';

const MAX_REFERENCE_LENGTH = 255;

export function deposit(deps: { database: Database; clock: Clock }) {
  return async (request: DepositRequest): Promise<DepositResponse | Refused> => {
    const { accountId, amountCents, reference } = request;
    const environment = parseEnvironment(request.environment);
    if (!isUuid(accountId)) return refused('not_found');
    if (amountCents <= 0n) return refused('invalid_request', 'The amount must be above 0.00.');
    if (reference.length < 1 || reference.length > MAX_REFERENCE_LENGTH) {
      return refused('invalid_request', 'The reference must have 1 to 255 characters.');
    }
    const account = await loadAccount(deps.database, accountId);
    if (account === null || (account.sandboxOnly && environment === 'live')) return refused('not_found');
    const balanceCents = await postDeposit(deps, {
      accountId: account.id,
      environment,
      amountCents: cents(amountCents),
      reference,
    });
    return isRefused(balanceCents) ? balanceCents : { balanceCents };
  };
}

/** Posts the deposit unless its reference is posted already; answers the balance. */
export function postDeposit(
  { database, clock }: { database: Database; clock: Clock },
  payment: { accountId: string; environment: Environment; amountCents: Cents; reference: string },
): Promise<Cents | Refused> {
  const { amountCents, reference } = payment;
  const ledgerId = playerLedgerId(payment.accountId, payment.environment);
  return withOpenPlayers(database, [payment], () =>
    database.transaction(async (tx) => {
      const book = openBook(await lockOpenPlayers(tx, [payment]));
      const before = await loadDeposit(tx, ledgerId, reference);
      if (before !== null && before !== amountCents) {
        return refused('conflict', 'The reference was used for another amount.');
      }
      if (before === null) {
        book.post({ kind: 'deposit', id: hashId('deposit', ledgerId, reference), ledgerId, amountCents, reference });
        await writeChanges(tx, book.changes(), clock());
      }
      return book.balanceCents(ledgerId);
    }),
  );
}
