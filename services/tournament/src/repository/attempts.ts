/**
 * Attempts, and the locks of a batch of outcomes.
 *
 * Most ids are found in `attempts`. If a read does not find an id there, a second statement reads
 * `archived_attempts`. So the read also finds an attempt that is archived between the two
 * statements.
 *
 * Locks are always taken in one order, so that transactions cannot deadlock: the lock on entering a
 * round, the locks on players (player-facts.ts), attempts by id, boards by round id (a row of
 * round_tallies is the lock on its round's board), a tournament, entries. The one exception takes a
 * player's lock after an attempt's: moving an attempt to another account.
 */

import {
  idempotencyUseColumns,
  insertingIdempotencyUses,
  isAfterLowWatermarkSql,
  type KeyedAttempt,
} from '@laurel/attempts';
import type { AttemptStatus, RoundReason } from '@laurel/attempts/domain';
import type { Queryable, Transaction } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { ScoringRound } from '../domain/outcome-decision.ts';
import type { ReceiptRound } from '../domain/receipt.ts';
import type { Attempt, BestRun, Direction, Entry, Environment, Round, RoundStatus } from '../domain/tournament.ts';
import { toTiebreak } from './rounds.ts';

/** An attempt, and the fields of its round that a read depends on. */
export type AttemptInRound = {
  readonly attempt: Attempt;
  readonly round: Pick<Round, 'tenant' | 'status' | 'closesAt'>;
  /** Why the attempt expires, if its round ends it. */
  readonly endReason: RoundReason;
};

/** Everything that decides an outcome, read under the locks. */
export type AttemptOnBoard = {
  readonly attempt: Attempt;
  readonly round: ScoringRound & ReceiptRound;
  readonly entry: EntryOnBoard;
};

/** An entry with the sort key of its best run; null while it has no run. */
export type EntryOnBoard = Entry & { readonly sortKey: Buffer | null };

export type PendingAttempt = Pick<Attempt, 'id' | 'feeGeneration' | 'createdAt'>;

type AttemptRow = {
  id: string;
  round_id: string;
  entry_id: string;
  account_id: string;
  player_ref: string;
  status: AttemptStatus;
  fee_cents: bigint;
  metadata: string;
  created_at: Date;
  fee_generation: number;
  closed_reason: string | null;
};

export type EntryRow = {
  entry_id: string;
  round_id: string;
  account_id: string;
  bought_at: Date | null;
  best_attempt_id: string | null;
  best_score: number | null;
  best_tiebreak: number | null;
  best_score_at: Date | null;
  best_player_ref: string | null;
  sort_key: Buffer | null;
};

type AttemptInRoundRow = AttemptRow & {
  program_id: string;
  environment: Environment;
  round_status: RoundStatus;
  closes_at: Date;
};

type AttemptOnBoardRow = AttemptInRoundRow &
  EntryRow & {
    tournament_id: string;
    direction: Direction;
    metric_name: string;
    metric_unit: string;
    tiebreak_metric_name: string | null;
    tiebreak_direction: Direction | null;
  };

// Writes the entries and refs of attempts in the statement that inserts the attempts. An entry has
// a derived id and is inserted once. A ref maps to the account of its newest attempt. A ref that
// already maps to this account is left out, because an upsert would lock its row although nothing
// changes.
const put = (attempts: string) => `
entered as (
  insert into entries (id, round_id, account_id, created_at)
  select distinct on (w.entry_id) w.entry_id, w.round_id, w.account_id, w.created_at from ${attempts} w order by w.entry_id
  on conflict do nothing
), named as (
  insert into entry_refs (round_id, player_ref, account_id)
  select w.round_id, w.player_ref, w.account_id
  from (
    select distinct on (round_id, player_ref) round_id, player_ref, account_id
    from ${attempts} order by round_id, player_ref, position desc
  ) w
  where w.account_id is distinct from
    (select r.account_id from entry_refs r where r.round_id = w.round_id and r.player_ref = w.player_ref)
  order by w.round_id, w.player_ref
  on conflict (round_id, player_ref) do update set account_id = excluded.account_id
)`;

/** The inserted attempts with their idempotency uses. */
const USES_OF_MADE_ATTEMPTS = `
    select w.id as operation_id, w.key_id, w.fingerprint, w.used_at from wanted w where w.id = any(array(select made.id from made))`;

/**
 * The SQL that inserts attempts that were decided at one instant, with their entries, refs and
 * idempotency uses. Its parameters are those of `columnsOf`, then one array per entry of `facts`.
 * Each entry of `facts` adds a column to the rows `w` of the attempts, by name and type. Only
 * attempts whose row `w` satisfies `where` are inserted.
 */
export function insertingAttempts({
  facts = [],
  where = 'true',
}: {
  readonly facts?: readonly (readonly [name: string, type: string])[];
  readonly where?: string;
}): string {
  const arrays = facts.map(([, type], index) => `, $${index + 13}::${type}[]`).join('');
  const names = facts.map(([name]) => `, ${name}`).join('');
  return `
with wanted as materialized (
  select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::text[],
    $10::uuid[], $11::bytea[], $12::timestamptz[]${arrays}) with ordinality
    as w (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, key_id, fingerprint, used_at${names}, position)
  cross join (select $9::timestamptz as created_at) decided
  where ${isAfterLowWatermarkSql('$9')} and ${where}
), ${put('wanted')}, made as (
  insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at)
  select id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at from wanted order by id
  on conflict (id) do nothing
  returning id
), used as (${insertingIdempotencyUses(USES_OF_MADE_ATTEMPTS)}
)
select id from made`;
}

/** The first twelve parameters of `insertingAttempts`. */
export function columnsOf(keyed: readonly KeyedAttempt<Attempt>[], createdAt: Date | undefined): readonly unknown[] {
  const attempts = keyed.map(({ attempt }) => attempt);
  return [
    attempts.map((attempt) => attempt.id),
    attempts.map((attempt) => attempt.roundId),
    attempts.map((attempt) => attempt.entryId),
    attempts.map((attempt) => attempt.accountId),
    attempts.map((attempt) => attempt.playerRef),
    attempts.map((attempt) => attempt.status),
    attempts.map((attempt) => attempt.feeCents),
    attempts.map((attempt) => attempt.metadata),
    createdAt,
    ...idempotencyUseColumns(keyed.map(({ idempotencyUse }) => idempotencyUse)),
  ];
}

const INSERT = { name: 'attempts_insert', text: insertingAttempts({}) };

const WANTED_ONE = `
wanted as (
  select $1::uuid as id, a.round_id, $2::uuid as entry_id, $3::uuid as account_id, a.player_ref, $4::timestamptz as created_at, 1 as position
  from attempts a where a.id = $1::uuid
)`;

const RESTART = {
  text: `
with ${WANTED_ONE}, ${put('wanted')}
update attempts set entry_id = $2, account_id = $3, created_at = $4, status = $5, fee_cents = $6, fee_generation = $7,
  closed_reason = null
where id = $1 and status = 'refused' and closed_reason = 'abandoned' and fee_generation = $7 - 1
  and ${isAfterLowWatermarkSql('$4')}
returning id`,
};

const MOVE = {
  text: `
with ${WANTED_ONE}, ${put('wanted')}
update attempts set entry_id = $2, account_id = $3 where id = $1`,
};

const SELECT_BY_IDS = { name: 'attempts_by_ids', text: 'select * from attempts where id = any($1::uuid[])' };

const OF_ROUND = `r.program_id, r.environment, r.status as round_status, r.closes_at,
  exists (select from round_cancellations x where x.round_id = r.id) as is_cancelled`;

const SELECT_IN_ROUND = {
  name: 'attempts_in_round',
  text: `
select a.*, ${OF_ROUND}
from attempts a join rounds r on r.id = a.round_id where a.id = $1`,
};

// Only the archive contains the metadata of these attempts.
const ARCHIVED = `
select a.id, a.round_id, a.entry_id, a.account_id, a.player_ref, a.status, a.fee_cents, '{}' as metadata, a.created_at,
  a.fee_generation, a.closed_reason`;

const SELECT_ARCHIVED_BY_IDS = {
  name: 'archived_attempts_by_ids',
  text: `${ARCHIVED} from archived_attempts a where a.id = any($1::uuid[])`,
};

const SELECT_ARCHIVED_IN_ROUND = {
  name: 'archived_attempts_in_round',
  text: `
${ARCHIVED}, ${OF_ROUND}
from archived_attempts a join rounds r on r.id = a.round_id where a.id = $1`,
};

const LOCK = { name: 'attempts_lock', text: 'select * from attempts where id = $1 for no key update' };

// This one statement has two steps: it locks every attempt before it sorts the rounds, and sorts
// the rounds before it locks the first board. It begins with `select`, so it is sent together with
// `begin`.
const LOCK_WITH_BOARDS = {
  name: 'attempts_lock_with_boards',
  text: `
select from (
  with held as materialized (
    select a.round_id from attempts a where a.id = any($1::uuid[]) order by a.id for no key update
  )
  select board.round_id
  from (select distinct held.round_id as id from held order by 1) as wanted
  cross join lateral (select t.round_id from round_tallies t where t.round_id = wanted.id for no key update) board
) locked`,
};

// This statement follows the locks: it reads the joined rows as the previous lock holders committed
// them.
const SELECT_ON_BOARDS = {
  name: 'attempts_on_boards',
  text: `
select a.*, e.bought_at, e.best_attempt_id, e.best_score, e.best_tiebreak, e.best_score_at, e.best_player_ref, e.sort_key,
  r.program_id, r.environment, r.tournament_id, r.status as round_status, r.closes_at, r.direction, r.tiebreak_direction,
  n.metric_name, n.metric_unit, n.tiebreak_metric_name
from attempts a
cross join lateral (select * from entries own where own.id = a.entry_id limit 1) e
join rounds r on r.id = a.round_id
join tournaments n on n.id = r.tournament_id
where a.id = any($1::uuid[])`,
};

const SELECT_PENDING_OF_ROUND = {
  text: `
select a.id, a.fee_generation, a.created_at, (select r.environment from rounds r where r.id = a.round_id) as environment
from attempts a where a.round_id = $1 and a.status = 'pending' limit $2`,
};

const SELECT_PENDING_OF_PLAYER = {
  name: 'attempts_pending_of_player',
  text: `
select id, fee_generation, created_at from attempts
where round_id = $1 and status = 'pending'
  and account_id = (select r.account_id from entry_refs r where r.round_id = $1 and r.player_ref = $2)
order by created_at`,
};

const SELECT_PENDING_OF_ACCOUNT = {
  name: 'attempts_pending_of_account',
  text: `
select id, fee_generation, created_at from attempts
where round_id = $1 and account_id = $2 and status = 'pending'
order by created_at`,
};

/**
 * Inserts attempts, all decided at one instant, with their entries and refs. Returns the ids that
 * this transaction wrote. Attempts that another process wrote before, and attempts that are too
 * late for the sweep's low watermark, are left out.
 */
export async function insertAttempts(
  on: Queryable,
  keyed: readonly KeyedAttempt<Attempt>[],
): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ id: string }>(INSERT, columnsOf(keyed, keyed[0]?.attempt.createdAt));
  return new Set(rows.map((row) => row.id));
}

/**
 * Restarts an abandoned attempt as this one. False if another process was first, or if this attempt
 * is too late for the sweep's low watermark.
 */
export async function restartAttempt(on: Queryable, attempt: Attempt): Promise<boolean> {
  const rows = await on.query(RESTART, [
    attempt.id,
    attempt.entryId,
    attempt.accountId,
    attempt.createdAt,
    attempt.status,
    attempt.feeCents,
    attempt.feeGeneration,
  ]);
  return rows.length === 1;
}

/** Moves a pending attempt, which the caller has locked, to this account and its entry. */
export async function moveAttempt(
  on: Queryable,
  { id, entryId, accountId, createdAt }: Pick<Attempt, 'id' | 'entryId' | 'accountId' | 'createdAt'>,
): Promise<void> {
  await on.query(MOVE, [id, entryId, accountId, createdAt]);
}

export async function loadAttempts(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Attempt>> {
  if (ids.length === 0) return new Map();
  const rows = await on.query<AttemptRow>(SELECT_BY_IDS, [ids]);
  return new Map(rows.map((row) => [row.id, toAttempt(row)]));
}

/** The attempts whose month was deleted, of these ids. */
export async function loadArchivedAttempts(
  on: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Attempt>> {
  const rows = await on.query<AttemptRow>(SELECT_ARCHIVED_BY_IDS, [ids]);
  return new Map(rows.map((row) => [row.id, toAttempt(row)]));
}

/** An attempt, archived or not. */
export async function findAttempt(on: Queryable, id: string): Promise<AttemptInRound | null> {
  const [row] = await on.query<FoundRow>(SELECT_IN_ROUND, [id]);
  return row === undefined ? await findArchivedAttempt(on, id) : toAttemptInRound(row);
}

/** An attempt whose month was deleted; null for any other attempt. */
export async function findArchivedAttempt(on: Queryable, id: string): Promise<AttemptInRound | null> {
  const [row] = await on.query<FoundRow>(SELECT_ARCHIVED_IN_ROUND, [id]);
  return row === undefined ? null : toAttemptInRound(row);
}

type FoundRow = AttemptInRoundRow & { is_cancelled: boolean };

function toAttemptInRound(row: FoundRow): AttemptInRound {
  const tenant = { programId: row.program_id, environment: row.environment };
  return {
    attempt: toAttempt(row),
    round: { tenant, status: row.round_status, closesAt: row.closes_at },
    endReason: row.is_cancelled ? 'round_cancelled' : 'round_closed',
  };
}

/** The pending attempts of an account, oldest first; empty without an account. */
export async function loadPendingOfAccount(
  on: Queryable,
  roundId: string,
  accountId: string | null,
): Promise<readonly PendingAttempt[]> {
  return (await on.query<PendingRow>(SELECT_PENDING_OF_ACCOUNT, [roundId, accountId])).map(toPending);
}

/** Locks one attempt that is to be moved. Outcomes use lockOnBoards. */
export async function lockAttempt(on: Queryable, id: string): Promise<Attempt | null> {
  const [row] = await on.query<AttemptRow>(LOCK, [id]);
  return row === undefined ? null : toAttempt(row);
}

/**
 * Locks the attempts and the boards of their rounds until the transaction ends, and reads
 * everything that decides outcomes. This is the first of a batch's two round trips. The second
 * sends insertOutcomes and writeBoards together with the commit.
 */
export async function lockOnBoards(
  tx: Transaction,
  attemptIds: readonly string[],
): Promise<ReadonlyMap<string, AttemptOnBoard>> {
  const values = [attemptIds];
  // The statements are sent together and run in this order.
  const [, rows] = await Promise.all([
    tx.query(LOCK_WITH_BOARDS, values),
    tx.query<AttemptOnBoardRow>(SELECT_ON_BOARDS, values),
  ]);
  return new Map(rows.map((row) => [row.id, toAttemptOnBoard(row)]));
}

/** The pending attempts of a round, in no particular order. */
export async function loadPendingOfRound(
  on: Queryable,
  roundId: string,
  limit: number,
): Promise<readonly (PendingAttempt & { readonly environment: Environment })[]> {
  const rows = await on.query<PendingRow & { environment: Environment }>(SELECT_PENDING_OF_ROUND, [roundId, limit]);
  return rows.map((row) => ({ ...toPending(row), environment: row.environment }));
}

/**
 * The pending attempts of the account that last played under the ref in this round, oldest first.
 */
export async function loadPendingOfPlayer(
  on: Queryable,
  roundId: string,
  playerRef: string,
): Promise<readonly PendingAttempt[]> {
  return (await on.query<PendingRow>(SELECT_PENDING_OF_PLAYER, [roundId, playerRef])).map(toPending);
}

type PendingRow = { id: string; fee_generation: number; created_at: Date };

function toPending(row: PendingRow): PendingAttempt {
  return { id: row.id, feeGeneration: row.fee_generation, createdAt: row.created_at };
}

export function toEntry(row: EntryRow): EntryOnBoard {
  return {
    id: row.entry_id,
    roundId: row.round_id,
    accountId: row.account_id,
    boughtAt: row.bought_at,
    best: toBestRun(row),
    sortKey: row.sort_key,
  };
}

/** The columns are all null or all set; only the tiebreak may be null alone. */
export function toBestRun(row: EntryRow): BestRun | null {
  const { best_attempt_id: attemptId, best_score: score, best_score_at: at, best_player_ref: playerRef } = row;
  if (attemptId === null || score === null || at === null || playerRef === null) return null;
  return { attemptId, score, tiebreak: row.best_tiebreak, at, playerRef };
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    id: row.id,
    roundId: row.round_id,
    entryId: row.entry_id,
    accountId: row.account_id,
    playerRef: row.player_ref,
    status: row.status,
    feeCents: cents(row.fee_cents),
    metadata: row.metadata,
    createdAt: row.created_at,
    feeGeneration: row.fee_generation,
    closedReason: row.closed_reason,
  };
}

function toAttemptOnBoard(row: AttemptOnBoardRow): AttemptOnBoard {
  return {
    attempt: toAttempt(row),
    round: {
      id: row.round_id,
      tournamentId: row.tournament_id,
      tenant: { programId: row.program_id, environment: row.environment },
      status: row.round_status,
      closesAt: row.closes_at,
      terms: {
        metricName: row.metric_name,
        metricUnit: row.metric_unit,
        direction: row.direction,
        tiebreak: toTiebreak(row),
      },
    },
    entry: toEntry(row),
  };
}
