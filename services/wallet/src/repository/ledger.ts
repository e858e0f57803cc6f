/**
 * The rows of the ledger: locked in one order, written in one statement.
 *
 * Locks are taken in one order (docs/lock-order.md): players' rows by id, then new transfers by id
 * (two writers may insert the same id), then house rows by id. The house comes last and once per
 * batch, because every writer waits for it until the commit.
 *
 * Statements that read a batch join `unnest` laterally, which has one possible plan. A plain join
 * that is planned while the table is small might become a full scan.
 */

import type { Database, Statement, Transaction } from '@laurel/postgres';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import type { LedgerChanges, PlayerLedger, Tombstone, Transfer } from '../domain/ledger.ts';
import { houseOf, playerLedgerId } from '../domain/ledger.ts';

const lockPlayersStatement: Statement = {
  name: 'lock_players',
  text: `
    select player.id, player.account_id, player.environment, player.house_id, player.balance_cents, player.hold_next_award
    from (select id from unnest($1::uuid[]) as wanted (id) order by id) as wanted
    cross join lateral (
      select * from ledger_accounts where ledger_accounts.id = wanted.id for no key update
    ) as player`,
};

type PlayerRow = {
  id: string;
  account_id: string;
  environment: Environment;
  house_id: string;
  balance_cents: bigint;
  hold_next_award: boolean;
};

/** Locks players' rows until the transaction ends; ids without a row are left out. */
export async function lockPlayers(tx: Transaction, ledgerIds: Iterable<string>): Promise<readonly PlayerLedger[]> {
  const ids = [...new Set(ledgerIds)];
  if (ids.length === 0) return [];
  const rows = await tx.query<PlayerRow>(lockPlayersStatement, [ids]);
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    environment: row.environment,
    houseId: row.house_id,
    balanceCents: cents(row.balance_cents),
    holdNextAward: row.hold_next_award,
  }));
}

const openPlayersStatement: Statement = {
  name: 'open_players',
  // The statement names no conflict target: a player's row is unique by its id, and by its account
  // and environment. When two first inserts run at once, either index may report the conflict.
  text: `
    insert into ledger_accounts (id, kind, environment, account_id, house_id)
    select wanted.id, 'player', wanted.environment, wanted.account_id, wanted.house_id
    from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[]) as wanted (id, environment, account_id, house_id)
    order by wanted.id
    on conflict do nothing`,
};

/** A player's ledger account by its parts, and the house that the account plays with. */
export type PlayerLedgerKey = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly houseId: string;
};

/** The key of a program's player. */
export function playerLedgerKeyOf(player: {
  accountId: string;
  environment: Environment;
  programId: string;
}): PlayerLedgerKey {
  return { accountId: player.accountId, environment: player.environment, houseId: houseOf(player) };
}

/**
 * Inserts the players' missing rows of the ledger. It is a transaction of its own, before the one
 * that credits them: inside that one, a new row would be locked out of order.
 */
export async function openPlayers(database: Database, players: readonly PlayerLedgerKey[]): Promise<void> {
  const keyed = players.map((player) => ({ ...player, id: playerLedgerId(player.accountId, player.environment) }));
  await database.query(openPlayersStatement, [
    keyed.map((player) => player.id),
    keyed.map((player) => player.environment),
    keyed.map((player) => player.accountId),
    keyed.map((player) => player.houseId),
  ]);
}

/**
 * Runs the work. If a player has no row of the ledger, opens the rows and runs it again: once in a
 * player's lifetime.
 */
export async function withOpenPlayers<Result>(
  database: Database,
  players: readonly PlayerLedgerKey[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PlayerNotOpenError)) throw error;
    await openPlayers(database, players);
    return await work();
  }
}

class PlayerNotOpenError extends Error {
  override readonly name = 'PlayerNotOpenError';
}

/** Locks players like lockPlayers, but every row must exist; call this inside withOpenPlayers. */
export async function lockOpenPlayers(
  tx: Transaction,
  players: readonly PlayerLedgerKey[],
): Promise<readonly PlayerLedger[]> {
  const ids = new Set(players.map((player) => playerLedgerId(player.accountId, player.environment)));
  const locked = await lockPlayers(tx, ids);
  if (locked.length < ids.size) throw new PlayerNotOpenError('a player has no row of the ledger yet');
  return locked;
}

const writeChangesStatement: Statement = {
  name: 'write_changes',
  // An insert and two updates, each of which waits for the previous one. lockPlayers has locked the
  // players' rows, which get the new balance. House rows exist from the house's first account on;
  // they are locked here and get the difference.
  text: `
    with written as (
      insert into transfers (
        id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents,
        attempt_id, round_id, fee_transfer_id, award_id, reference, reason, refusal_code, house_id, program_id, program_limit_cents,
        created_at
      )
      select line.*, $20::timestamptz
      from unnest(
        $1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::bigint[], $8::uuid[], $9::bigint[],
        $10::uuid[], $11::uuid[], $12::uuid[], $13::uuid[], $14::text[], $15::text[], $16::text[], $17::uuid[],
        $18::uuid[], $19::bigint[]
      ) as line (id)
      order by line.id
      returning 1
    ),
    player_balances as (
      update ledger_accounts set balance_cents = player.balance_cents, hold_next_award = player.hold_next_award
      from unnest($21::uuid[], $22::bigint[], $23::boolean[]) as player (id, balance_cents, hold_next_award)
      where (select count(*) from written) >= 0 and ledger_accounts.id = player.id
      returning 1
    ),
    houses as materialized (
      select house.id, wanted.delta_cents
      from (
        select * from unnest($24::uuid[], $25::bigint[]) as wanted (id, delta_cents)
        where (select count(*) from player_balances) >= 0 order by id
      ) as wanted
      cross join lateral (
        select ledger_accounts.id from ledger_accounts where ledger_accounts.id = wanted.id for no key update
      ) as house
    )
    update ledger_accounts set balance_cents = ledger_accounts.balance_cents + houses.delta_cents
    from houses where ledger_accounts.id = houses.id`,
};

type TransferRow = readonly [
  id: string,
  state: 'posted' | 'tombstone',
  kind: string,
  environment: Environment | null,
  debitId: string | null,
  creditId: string | null,
  amountCents: Cents | null,
  ledgerId: string | null,
  balanceAfterCents: Cents | null,
  attemptId: string | null,
  roundId: string | null,
  feeTransferId: string | null,
  awardId: string | null,
  reference: string | null,
  reason: string | null,
  refusalCode: string | null,
  houseId: string | null,
  programId: string | null,
  programLimitCents: Cents | null,
];

const TRANSFER_COLUMNS = 19;

/** Writes a batch's decisions in one round trip, or in none if there is nothing to write. */
export async function writeChanges(tx: Pick<Transaction, 'query'>, changes: LedgerChanges, now: Date): Promise<void> {
  const { players, house } = changes;
  if (changes.lines.length + players.length === 0) return;
  const lines = changes.lines.map((line) => (line.state === 'posted' ? postedRow(line) : tombstoneRow(line)));
  const columns = Array.from({ length: TRANSFER_COLUMNS }, (_, column) => lines.map((line) => line[column]));
  await tx.query(writeChangesStatement, [
    ...columns,
    now,
    players.map((player) => player.id),
    players.map((player) => player.balanceCents),
    players.map((player) => player.holdNextAward),
    house.map((row) => row.id),
    house.map((row) => row.deltaCents),
  ]);
}

function postedRow({ id, details, ...transfer }: Transfer): TransferRow {
  return [
    id,
    'posted',
    details.kind,
    transfer.environment,
    transfer.debitId,
    transfer.creditId,
    transfer.amountCents,
    transfer.ledgerId,
    transfer.balanceAfterCents,
    'attemptId' in details ? details.attemptId : null,
    details.kind === 'purse' ? details.roundId : null,
    details.kind === 'refund' ? details.feeTransferId : null,
    'awardId' in details ? details.awardId : null,
    details.kind === 'deposit' ? details.reference : null,
    details.kind === 'refund' ? details.reason : null,
    null,
    transfer.houseId,
    details.kind === 'fee' ? details.programId : null,
    details.kind === 'fee' ? details.programLimitCents : null,
  ];
}

function tombstoneRow({ id, environment, attemptId, refusalCode }: Tombstone): TransferRow {
  const nothing = [null, null, null, null, null] as const;
  const rest = [null, null, null, null, null, refusalCode, null, null, null] as const;
  return [id, 'tombstone', 'fee', environment, ...nothing, attemptId, ...rest];
}

const holdNextAwardStatement: Statement = {
  name: 'hold_next_award',
  text: 'update ledger_accounts set hold_next_award = true where id = $1',
};

/** Turns "hold the next award" on; the row must exist. */
export async function holdNextAward(database: Database, ledgerId: string): Promise<void> {
  await database.query(holdNextAwardStatement, [ledgerId]);
}
