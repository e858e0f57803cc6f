/** Deposit: posts external cash once per reference. */

import { isRefused, type Refused, refused } from '@laurel/errors';
import { parseEnvironment } from '@laurel/grpc';
import { isStorable } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import type { DepositRequest, DepositResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { hashId, isUuid } from '@laurel/values/ids';
import { MAX_REFERENCE_CHARACTERS } from '@laurel/values/limits';
import { cents } from '@laurel/values/money';
import { decideDeposit } from '../domain/deposit-decision.ts';
import { environmentOf, openBook, playerLedgerId, SHARED_SANDBOX } from '../domain/ledger.ts';
import { loadAccount } from '../repository/accounts.ts';
import { lockOpenPlayers, withOpenPlayers, writeChanges } from '../repository/ledger.ts';
import { loadDeposit, loadFeePayer } from '../repository/statements.ts';

export function deposit({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: DepositRequest): Promise<DepositResponse | Refused> => {
    const { accountId, reference } = request;
    const environment = parseEnvironment(request.environment);
    if (!isUuid(accountId)) return refused('not_found');
    if (request.amountCents <= 0n) return refused('invalid_request', 'The amount must be above 0.00.');
    if (reference === '' || !isStorable(reference, MAX_REFERENCE_CHARACTERS)) {
      return refused('invalid_request', `The reference must have 1 to ${MAX_REFERENCE_CHARACTERS} characters.`);
    }
    const attemptId = request.attemptId?.toLowerCase() ?? null;
    if (attemptId !== null && !isUuid(attemptId)) return refused('not_found', 'There is no such attempt.');
    const amountCents = cents(request.amountCents);
    const account = await loadAccount(database, accountId);
    if (account === null) return refused('not_found');
    if (environmentOf(account.houseId) !== environment || account.houseId === SHARED_SANDBOX) {
      return refused(
        'not_found',
        'A person has real money alone, and a sandbox account its program’s play money alone.',
      );
    }

    const ledgerId = playerLedgerId(account.id, environment);
    const player = { accountId: account.id, environment, houseId: account.houseId };
    return await withOpenPlayers(database, [player], () =>
      database.transaction(async (tx) => {
        const book = openBook(await lockOpenPlayers(tx, [player]));
        const payer = attemptId === null ? null : await loadFeePayer(tx, attemptId);
        if (payer !== null && payer !== ledgerId) return refused('not_found', 'Another account paid for the attempt.');
        const stored = await loadDeposit(tx, ledgerId, reference);
        const balanceCents = book.balanceCents(ledgerId);
        const [storedCents, storedAttemptId] = [stored?.amountCents ?? null, stored?.attemptId ?? null];
        const decision = decideDeposit({
          environment,
          balanceCents,
          amountCents,
          storedCents,
          attemptId,
          storedAttemptId,
        });
        if (isRefused(decision)) return decision;
        if (decision === 'post') {
          const id = hashId('deposit', ledgerId, reference);
          const madeGood = attemptId === null ? {} : { attemptId };
          book.post({ kind: 'deposit', id, ledgerId, amountCents, reference, ...madeGood });
          await writeChanges(tx, book.changes(), clock());
        }
        return { balanceCents: book.balanceCents(ledgerId), postedBefore: decision === 'done' };
      }),
    );
  };
}
