/**
 * The rows of the ledger: locked in one order, written in one statement.
 *
 * Locks are always taken in the same order, so that writers never wait for each other in a circle: players' rows by id, then new
 * transfers by id (two writers may meet on the same id; batches are decided in the order of their ids), then house rows by id. The house comes last and once a batch, because
 * everybody waits for it from here to the commit.
 *
 * Statements that read a batch join `unnest` laterally with `limit 1`, which has one possible plan, whatever the table's statistics said
 * when the connection prepared them; a plain join might be planned once, while the table is still small, as a scan of all of it.
 * Updates join on the primary key: with decision 5's settings their plan is the same from the empty table on.
 */
import { type Cents, cents } from '@laurel/money';
import type { Database, Statement, Transaction } from '@laurel/postgres';
import type { Environment, Fence, LedgerChanges, PlayerLedger, Transfer } from '../domain/ledger.ts';
import { playerLedgerId } from '../domain/ledger.ts';

const lockPlayersStatement: Statement = {
  name: 'lock_players',
  text: `
    select player.id, player.account_id, player.environment, player.balance_cents, player.hold_next_award
    from unnest($1::uuid[]) as wanted (id)
    cross join lateral (
      select * from ledger_accounts where ledger_accounts.id = wanted.id for no key update
    ) as player`,
};

type PlayerRow = {
  id: string;
  account_id: string;
  environment: Environment;
  balance_cents: bigint;
  hold_next_award: boolean;
};

/** Locks players' rows until the transaction ends; ids without a row are left out. */
export async function lockPlayers(tx: Transaction, ledgerIds: Iterable<string>): Promise<readonly PlayerLedger[]> {
  const ids = [...new Set(ledgerIds)].sort();
  if (ids.length === 0) return [];
  const rows = await tx.query<PlayerRow>(lockPlayersStatement, [ids]);
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    environment: row.environment,
    balanceCents: cents(row.balance_cents),
    holdNextAward: row.hold_next_award,
  }));
}

const openPlayersStatement: Statement = {
  name: 'open_players',
  // Names no conflict: an account's row is unique by its id and by its account and environment, and of two first inserts at once
  // either index may be the one to notice.
  text: `
    insert into ledger_accounts (id, kind, environment, account_id)
    select wanted.id, 'player', wanted.environment, wanted.account_id
    from unnest($1::uuid[], $2::text[], $3::uuid[]) as wanted (id, environment, account_id)
    on conflict do nothing`,
};

/** A player's ledger account by its parts. */
export type PlayerKey = { readonly accountId: string; readonly environment: Environment };

/**
 * Gives players a row of the ledger where they have none. By itself, before the transaction that credits them: inside it, a new row
 * would be locked out of order.
 */
export async function openPlayers(database: Database, players: readonly PlayerKey[]): Promise<void> {
  const keyed = players.map((player) => ({ ...player, id: playerLedgerId(player.accountId, player.environment) }));
  keyed.sort((a, b) => (a.id < b.id ? -1 : 1));
  await database.query(openPlayersStatement, [
    keyed.map((player) => player.id),
    keyed.map((player) => player.environment),
    keyed.map((player) => player.accountId),
  ]);
}

/** Locks rows that must be there, and opens those that are not yet: the second round trip happens once in a player's life. */
export async function withOpenPlayers<Result>(
  database: Database,
  players: readonly PlayerKey[],
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

/** As lockPlayers, inside withOpenPlayers. */
export async function lockOpenPlayers(
  tx: Transaction,
  players: readonly PlayerKey[],
): Promise<readonly PlayerLedger[]> {
  const ids = new Set(players.map((player) => playerLedgerId(player.accountId, player.environment)));
  const locked = await lockPlayers(tx, ids);
  if (locked.length < ids.size) throw new PlayerNotOpenError('a player has no row of the ledger yet');
  return locked;
}

const writeChangesStatement: Statement = {
  name: 'write_changes',
  // An insert and two updates that wait for each other in this order. Players' rows are locked and take the new balance; house rows are
  // there since the migrations, which let nobody delete them, and take the difference.
  text: `
    with written as (
      insert into transfers (
        id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents,
        attempt_id, round_id, fee_transfer_id, award_id, reference, reason, refusal_code, created_at
      )
      select line.*, $17::timestamptz
      from unnest(
        $1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::bigint[], $8::uuid[], $9::bigint[],
        $10::uuid[], $11::uuid[], $12::uuid[], $13::uuid[], $14::text[], $15::text[], $16::text[]
      ) as line
      returning 1
    ),
    settled as (
      update ledger_accounts set balance_cents = player.balance_cents, hold_next_award = player.hold_next_award
      from unnest($18::uuid[], $19::bigint[], $20::boolean[]) as player (id, balance_cents, hold_next_award)
      where (select count(*) from written) >= 0 and ledger_accounts.id = player.id
      returning 1
    )
    update ledger_accounts set balance_cents = ledger_accounts.balance_cents + house.delta_cents
    from unnest($21::uuid[], $22::bigint[]) as house (id, delta_cents)
    where (select count(*) from settled) >= 0 and ledger_accounts.id = house.id`,
};

type TransferRow = readonly [
  id: string,
  state: 'posted' | 'fenced',
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
];

const TRANSFER_COLUMNS = 16;

/** Writes what a batch decided: one round trip, however many transfers. Nothing to write is no round trip. */
export async function writeChanges(tx: Pick<Transaction, 'query'>, changes: LedgerChanges, now: Date): Promise<void> {
  const { players, house } = changes;
  if (changes.lines.length + players.length === 0) return;
  const lines = changes.lines.map((line) => (line.state === 'posted' ? postedRow(line) : fencedRow(line)));
  const houseById = [...house].sort((a, b) => (a.id < b.id ? -1 : 1));
  const columns = Array.from({ length: TRANSFER_COLUMNS }, (_, column) => lines.map((line) => line[column]));
  await tx.query(writeChangesStatement, [
    ...columns,
    now,
    players.map((player) => player.id),
    players.map((player) => player.balanceCents),
    players.map((player) => player.holdNextAward),
    houseById.map((row) => row.id),
    houseById.map((row) => row.deltaCents),
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
  ];
}

function fencedRow({ id, environment, attemptId, refusalCode }: Fence): TransferRow {
  const nothing = [null, null, null, null, null] as const;
  return [id, 'fenced', 'fee', environment, ...nothing, attemptId, null, null, null, null, null, refusalCode];
}

const holdNextAwardStatement: Statement = {
  name: 'hold_next_award',
  text: 'update ledger_accounts set hold_next_award = true where id = $1',
};

/** Turns the sandbox switch on; the row must be there. */
export async function holdNextAward(database: Database, ledgerId: string): Promise<void> {
  await database.query(holdNextAwardStatement, [ledgerId]);
}
