/**
 * Rounds. Frozen terms are on the round's row, names on its tournament's. Only the status, the
 * tally and an operator's cancellation may change, and the times of a round that is in the sandbox
 * or cancelled. The hot paths read only what they decide on, because a purse may have thousands of
 * ranks.
 */

import type { Queryable, Transaction } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { EntryRound } from '../domain/entry-decision.ts';
import type {
  Cancellation,
  Direction,
  Environment,
  Round,
  RoundStatus,
  Tally,
  Tiebreak,
} from '../domain/tournament.ts';

export type RoundWithTally = { readonly round: Round; readonly tally: Tally };

/** What decides whether a round accepts scores. */
export type RoundEnd = Pick<Round, 'tenant' | 'status' | 'closesAt'>;

/** The facts about a tournament's earlier rounds that decide whether and how its next one opens. */
export type RoundsSoFar = { readonly nextNumber: number; readonly hasOpenRound: boolean };

export type UnfinishedRound = { readonly id: string; readonly status: 'open' | 'settling' | 'cancelling' };

type RoundRow = {
  id: string;
  tournament_id: string;
  tournament_name: string;
  program_id: string;
  environment: Environment;
  number: number;
  status: RoundStatus;
  opens_at: Date;
  entries_close_at: Date;
  closes_at: Date;
  settled_at: Date | null;
  cancelled_at: Date | null;
  cancelled_by: string | null;
  cancel_reason: string | null;
  metric_name: string;
  metric_unit: string;
  direction: Direction;
  tiebreak_metric_name: string | null;
  tiebreak_direction: Direction | null;
  entry_fee_cents: bigint;
  attempt_cap: number;
  purse_cents: bigint[];
  min_entrants: number;
  min_scored_attempts: number;
  created_at: Date;
  entrants: number;
  scored_players: number;
  scored_attempts: number;
};

type EntryRoundRow = Pick<
  RoundRow,
  'id' | 'program_id' | 'environment' | 'status' | 'opens_at' | 'entries_close_at' | 'entry_fee_cents' | 'attempt_cap'
>;

const ROUND = `
select r.*, n.name as tournament_name, n.metric_name, n.metric_unit, n.tiebreak_metric_name,
  t.entrants, t.scored_players, t.scored_attempts, x.cancelled_at, x.cancelled_by, x.reason as cancel_reason
from rounds r join tournaments n on n.id = r.tournament_id join round_tallies t on t.round_id = r.id
  left join round_cancellations x on x.round_id = r.id`;

const SELECT_BY_ID = { name: 'rounds_by_id', text: `${ROUND} where r.id = $1` };

// The open round of a tournament is always its newest.
const SELECT_CURRENT = {
  name: 'rounds_current',
  text: `
${ROUND}
where r.id in (
  select (select c.id from rounds c where c.tournament_id = wanted.id order by c.number desc limit 1)
  from unnest($1::uuid[]) as wanted (id)
)`,
};

const SELECT_PAGE = {
  text: `
select id, number, cardinality(purse_cents) as ranks from rounds
where tournament_id = $1 and number < $2 order by number desc limit $3`,
};

const SELECT_BY_IDS = { text: `${ROUND} where r.id = any($1::uuid[]) order by r.number desc` };

const SELECT_FOR_ENTRY = {
  name: 'rounds_for_entry',
  text: `
select id, program_id, environment, status, opens_at, entries_close_at, entry_fee_cents, attempt_cap
from rounds where id = any($1::uuid[])`,
};

const SELECT_ENDS = {
  name: 'rounds_ends',
  text: 'select id, program_id, environment, status, closes_at from rounds where id = any($1::uuid[])',
};

// The worker skips a round that is open and neither over nor cancelled.
const SELECT_UNFINISHED = {
  text: `
select id, status from rounds
where status in ('open', 'settling', 'cancelling')
  and (status <> 'open' or closes_at <= $1 or exists (select from round_cancellations x where x.round_id = rounds.id))
order by closes_at, id`,
};

const SELECT_SO_FAR = {
  text: `
select coalesce(max(number), 0) + 1 as next_number, coalesce(bool_or(status = 'open'), false) as has_open_round
from rounds where tournament_id = $1`,
};

// Inserts a round with its tally and the first chunk of its board. Inserts nothing if a constraint
// forbids the round: another is open, or has the number.
const INSERT = {
  text: `
with opened as (
  insert into rounds (id, tournament_id, program_id, environment, number, status, opens_at, entries_close_at, closes_at, direction,
    tiebreak_direction, entry_fee_cents, attempt_cap, purse_cents, min_entrants, min_scored_attempts, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::bigint[], $15, $16, $17)
  on conflict do nothing
  returning id
), tallied as (
  insert into round_tallies (round_id, entrants, scored_players, scored_attempts) select id, 0, 0, 0 from opened
), chunked as (
  insert into board_chunks (round_id, lower_sort_key, entries) select id, '', 0 from opened
)
select id from opened`,
};

const MOVE_ENDS = { text: 'update rounds set entries_close_at = $2, closes_at = $3 where id = $1' };

const INSERT_CANCELLATION = {
  text: 'insert into round_cancellations (round_id, cancelled_at, cancelled_by, reason) values ($1, $2, $3, $4)',
};

const MOVE_STATUS = { text: 'update rounds set status = $3 where id = $1 and status = $2 returning id' };

/** Inserts a round. False if another round of the tournament is open. */
export async function insertRound(on: Queryable, round: Round): Promise<boolean> {
  const { terms, tenant } = round;
  const rows = await on.query(INSERT, [
    round.id,
    round.tournamentId,
    tenant.programId,
    tenant.environment,
    round.number,
    round.status,
    round.opensAt,
    round.entriesCloseAt,
    round.closesAt,
    terms.direction,
    terms.tiebreak?.direction ?? null,
    terms.entryFeeCents,
    terms.attemptCap,
    terms.purse,
    terms.minEntrants,
    terms.minScoredAttempts,
    round.createdAt,
  ]);
  return rows.length === 1;
}

export async function loadRoundEnds(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, RoundEnd>> {
  const rows = await on.query<Pick<RoundRow, 'id' | 'program_id' | 'environment' | 'status' | 'closes_at'>>(
    SELECT_ENDS,
    [[...new Set(ids)]],
  );
  return new Map(
    rows.map(({ id, program_id: programId, environment, status, closes_at: closesAt }) => [
      id,
      { tenant: { programId, environment }, status, closesAt },
    ]),
  );
}

export async function findRound(on: Queryable, id: string): Promise<RoundWithTally | null> {
  const [row] = await on.query<RoundRow>(SELECT_BY_ID, [id]);
  return row === undefined ? null : toRoundWithTally(row);
}

/**
 * The rounds of the tournament below this number, newest first, each with the number of ranks of
 * its purse.
 */
export async function listRoundPlaces(
  on: Queryable,
  tournamentId: string,
  { below, limit }: { readonly below: number; readonly limit: number },
): Promise<readonly { readonly id: string; readonly number: number; readonly ranks: number }[]> {
  return await on.query(SELECT_PAGE, [tournamentId, below, limit]);
}

/** Rounds of one tournament, newest first. */
export async function loadRounds(on: Queryable, ids: readonly string[]): Promise<readonly RoundWithTally[]> {
  return (await on.query<RoundRow>(SELECT_BY_IDS, [ids])).map(toRoundWithTally);
}

/** The open round of each tournament, otherwise its newest round. */
export async function loadCurrentRounds(
  on: Queryable,
  tournamentIds: readonly string[],
): Promise<ReadonlyMap<string, RoundWithTally>> {
  if (tournamentIds.length === 0) return new Map();
  const rows = await on.query<RoundRow>(SELECT_CURRENT, [tournamentIds]);
  return new Map(rows.map((row) => [row.tournament_id, toRoundWithTally(row)]));
}

/** The fields of the rounds that decide entries. */
export async function loadEntryRounds(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, EntryRound>> {
  const rows = await on.query<EntryRoundRow>(SELECT_FOR_ENTRY, [[...new Set(ids)]]);
  return new Map(rows.map((row) => [row.id, toEntryRound(row)]));
}

/**
 * Rounds that are over, or that an operator cancelled, and need a step towards their end; the
 * longest over first.
 */
export async function loadUnfinishedRounds(on: Queryable, now: Date): Promise<readonly UnfinishedRound[]> {
  return await on.query<UnfinishedRound>(SELECT_UNFINISHED, [now]);
}

/** The facts of earlier rounds that decide the next one. The caller holds the tournament's lock. */
export async function loadRoundsSoFar(on: Queryable, tournamentId: string): Promise<RoundsSoFar> {
  const [row] = await on.query<{ next_number: number; has_open_round: boolean }>(SELECT_SO_FAR, [tournamentId]);
  return { nextNumber: row?.next_number ?? 1, hasOpenRound: row?.has_open_round ?? false };
}

/**
 * Moves the times of an open round of the sandbox, or of one that an operator cancels: its entries,
 * or the round itself, end sooner.
 */
export async function moveRoundEnds(
  on: Queryable,
  { id, entriesCloseAt, closesAt }: Pick<Round, 'id' | 'entriesCloseAt' | 'closesAt'>,
): Promise<void> {
  await on.query(MOVE_ENDS, [id, entriesCloseAt, closesAt]);
}

/**
 * Stores an operator's cancellation, with the times at which it ends the round. The caller holds
 * the round.
 */
export async function cancelRound(
  on: Transaction,
  { id, cancellation, entriesCloseAt, closesAt }: Pick<Round, 'id' | 'cancellation' | 'entriesCloseAt' | 'closesAt'>,
): Promise<void> {
  if (cancellation === null) throw new Error(`round ${id} has no cancellation`);
  const { at, by, reason } = cancellation;
  await on.query(INSERT_CANCELLATION, [id, at, by, reason]);
  await moveRoundEnds(on, { id, entriesCloseAt, closesAt });
}

/** Changes the status of the round from `from` to `to`. False if the status was not `from`. */
export async function changeRoundStatus(
  on: Queryable,
  id: string,
  from: RoundStatus,
  to: RoundStatus,
): Promise<boolean> {
  return (await on.query(MOVE_STATUS, [id, from, to])).length === 1;
}

/**
 * The tournament has the tiebreak's name, the round its frozen direction. Both are null, or
 * neither.
 */
export function toTiebreak(row: {
  tiebreak_metric_name: string | null;
  tiebreak_direction: Direction | null;
}): Tiebreak | null {
  const { tiebreak_metric_name: metricName, tiebreak_direction: direction } = row;
  return metricName === null || direction === null ? null : { metricName, direction };
}

function toEntryRound(row: EntryRoundRow): EntryRound {
  return {
    id: row.id,
    tenant: { programId: row.program_id, environment: row.environment },
    status: row.status,
    opensAt: row.opens_at,
    entriesCloseAt: row.entries_close_at,
    terms: { entryFeeCents: cents(row.entry_fee_cents), attemptCap: row.attempt_cap },
  };
}

function toCancellation({ cancelled_at: at, cancelled_by: by, cancel_reason: reason }: RoundRow): Cancellation | null {
  return at === null || by === null || reason === null ? null : { at, by, reason };
}

function toRoundWithTally(row: RoundRow): RoundWithTally {
  const { id, tenant, status, opensAt, entriesCloseAt, terms } = toEntryRound(row);
  return {
    round: {
      id,
      tournamentId: row.tournament_id,
      tournamentName: row.tournament_name,
      tenant,
      number: row.number,
      status,
      opensAt,
      entriesCloseAt,
      closesAt: row.closes_at,
      settledAt: row.settled_at,
      cancellation: toCancellation(row),
      terms: {
        metricName: row.metric_name,
        metricUnit: row.metric_unit,
        direction: row.direction,
        tiebreak: toTiebreak(row),
        entryFeeCents: terms.entryFeeCents,
        attemptCap: terms.attemptCap,
        purse: row.purse_cents.map(cents),
        minEntrants: row.min_entrants,
        minScoredAttempts: row.min_scored_attempts,
      },
      createdAt: row.created_at,
    },
    tally: {
      entrants: row.entrants,
      scoredPlayers: row.scored_players,
      scoredAttempts: row.scored_attempts,
    },
  };
}
