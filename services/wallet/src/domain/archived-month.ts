/**
 * What the files of an archived month of the ledger must agree about. It reads each once, in its
 * order, and keeps the fees of one player and the sums of the houses.
 */
import {
  type ArchivedRow,
  type ArchivedRowsOf,
  expectEnd,
  type Total,
  Totals,
  walkRows,
} from '@laurel/attempts/domain';
import { isBefore } from '@laurel/values/instant';

interface Moved {
  lines: number;
  movedCents: number;
}

/** The lines of one player, as far as they are read. */
interface Statement extends Moved {
  readonly ledgerId: unknown;
  last: ArchivedRow;
  readonly feeCents: Map<unknown, unknown>;
}

type Range = { readonly from: Date; readonly until: Date };

/** Adds up the month. Throws at the first contradiction. */
export async function inspectMonth({ from, until }: Range, rows: ArchivedRowsOf): Promise<readonly Total[]> {
  const totals = new Totals();
  const houses = new Map<unknown, Moved>();
  await using balances = walkRows(rows('player_balances'));
  const endStatement = async (statement: Statement | null) => {
    if (statement === null) return;
    const { last, ledgerId } = statement;
    // Lines before the last one may be dated later, by the clock of another replica.
    if (!isBefore(instantOf(last), until)) throw new Error(`the line ${last.id} is not of the month`);
    const balance = await balances.takeIf((row) => row.id === ledgerId);
    if (balance === null || !isMoved(balance, statement) || balance.balance_cents !== last.player_balance_after_cents) {
      throw new Error(`the balance of ${ledgerId} is not that of its lines`);
    }
  };

  let statement: Statement | null = null;
  for await (const line of rows('transfers')) {
    if (isBefore(instantOf(line), from)) throw new Error(`the line ${line.id} is not of the month`);
    if (statement !== null && statement.ledgerId !== line.player_ledger_id) {
      await endStatement(statement);
      statement = null;
    }
    const { cents, houseLedgerId } = movedBy(line);
    if (
      statement !== null &&
      Number(statement.last.player_balance_after_cents) + cents !== line.player_balance_after_cents
    ) {
      throw new Error(`the line ${line.id} does not follow from the one before it`);
    }
    statement ??= { ledgerId: line.player_ledger_id, lines: 0, movedCents: 0, last: line, feeCents: new Map() };
    add(statement, cents);
    statement.last = line;
    matchRefund(line, statement.feeCents);
    const house = houses.get(houseLedgerId) ?? { lines: 0, movedCents: 0 };
    add(house, -cents);
    houses.set(houseLedgerId, house);
    totals.add('transfers', { environment: String(line.environment), status: line.kind, cents: line.amount_cents });
  }
  await endStatement(statement);
  await expectEnd('player_balances', balances);
  await inspectHouses(rows, houses);
  await inspectTombstones({ from, until }, rows, totals);
  return totals.list();
}

/**
 * Throws unless the balance of each account that both months moved continues from the month before.
 */
export async function inspectAfter(previous: ArchivedRowsOf, rows: ArchivedRowsOf): Promise<void> {
  for (const table of ['player_balances', 'house_balances']) {
    await using balances = walkRows(previous(table));
    for await (const { id, balance_cents: cents, moved_cents: movedCents } of rows(table)) {
      while ((await balances.takeIf((row) => String(row.id) < String(id))) !== null);
      const before = await balances.takeIf((row) => row.id === id);
      if (before !== null && before.balance_cents !== Number(cents) - Number(movedCents)) {
        throw new Error(`the balance of ${id} does not continue from the month before`);
      }
    }
  }
}

/** What a posted line added to its player, and the account of the house on its other side. */
function movedBy(line: ArchivedRow): { readonly cents: number; readonly houseLedgerId: unknown } {
  const isFee = line.kind === 'fee';
  const [playerId, houseLedgerId] = isFee ? [line.debit_id, line.credit_id] : [line.credit_id, line.debit_id];
  const amount = Number(line.amount_cents);
  const isPosted = line.state === 'posted' && playerId === line.player_ledger_id && houseLedgerId !== playerId;
  if (!isPosted || !(amount > 0)) throw new Error(`the line ${line.id} is not a posted ${line.kind}`);
  return { cents: isFee ? -amount : amount, houseLedgerId };
}

/** Compares a refund with its fee, if the month has the fee, and forgets the fee. */
function matchRefund(line: ArchivedRow, feeCents: Map<unknown, unknown>): void {
  if (line.kind === 'fee') feeCents.set(line.id, line.amount_cents);
  if (line.kind !== 'refund') return;
  const cents = feeCents.get(line.fee_transfer_id);
  if (cents !== undefined && cents !== line.amount_cents)
    throw new Error(`the refund ${line.id} is not equal to its fee`);
}

async function inspectHouses(rows: ArchivedRowsOf, houses: Map<unknown, Moved>): Promise<void> {
  for await (const balance of rows('house_balances')) {
    const moved = houses.get(balance.id);
    if (moved === undefined || !isMoved(balance, moved)) {
      throw new Error(`the account ${balance.id} of a house did not move what its lines moved`);
    }
    houses.delete(balance.id);
  }
  for (const id of houses.keys()) throw new Error(`the account ${id} of a house has no balance`);
}

async function inspectTombstones({ from, until }: Range, rows: ArchivedRowsOf, totals: Totals): Promise<void> {
  for await (const tombstone of rows('tombstones')) {
    const instant = instantOf(tombstone);
    const isOfMonth = !isBefore(instant, from) && isBefore(instant, until);
    if (!isOfMonth) throw new Error(`the tombstone ${tombstone.id} is not of the month`);
    if (tombstone.state === 'posted' || tombstone.kind !== 'fee' || tombstone.amount_cents !== null) {
      throw new Error(`the tombstone ${tombstone.id} moves something`);
    }
    totals.add('tombstones', {
      environment: String(tombstone.environment ?? 'none'),
      status: tombstone.state,
      cents: 0,
    });
  }
}

function add(sum: Moved, cents: number): void {
  sum.lines += 1;
  sum.movedCents += cents;
}

function isMoved(balance: ArchivedRow, { lines, movedCents }: Moved): boolean {
  if (!Number.isSafeInteger(movedCents)) throw new Error(`the month moved ${movedCents} cents of ${balance.id}`);
  return balance.lines === lines && balance.moved_cents === movedCents;
}

function instantOf(row: ArchivedRow): Date {
  return new Date(String(row.created_at));
}
