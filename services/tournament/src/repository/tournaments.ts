/** Tournaments, each with its current round. */

import type { Queryable } from '@laurel/postgres';
import type { Position } from '@laurel/values/cursor';
import { cents } from '@laurel/values/money';
import type { Direction, Environment, Tenant, Tournament, TournamentStatus } from '../domain/tournament.ts';
import { loadCurrentRounds, type RoundWithTally, toTiebreak } from './rounds.ts';

/** A tournament with its open round, otherwise its newest; null before the first. */
export type TournamentWithRound = { readonly tournament: Tournament; readonly currentRound: RoundWithTally | null };

type TournamentRow = {
  id: string;
  program_id: string;
  environment: Environment;
  status: TournamentStatus;
  name: string;
  description: string | null;
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
  round_length_seconds: number | null;
  created_at: Date;
};

const SELECT_BY_ID = { text: 'select * from tournaments where id = $1' };

const SELECT_OF_TENANT = {
  name: 'tournaments_of_tenant',
  text: `
select * from tournaments
where program_id = $1 and environment = $2 and status = any($3::text[])
order by created_at, id`,
};

// The ranks are those of the current round too: it froze the terms of its tournament.
const SELECT_PAGE = {
  text: `
select id, created_at, cardinality(purse_cents) as ranks from tournaments
where program_id = $1 and environment = $2 and (created_at, id) < ($3, $4::uuid) and ($5::text is null or status = $5)
order by created_at desc, id desc limit $6`,
};

const SELECT_BY_IDS = { text: 'select * from tournaments where id = any($1::uuid[])' };

const SELECT_WITHOUT_ROUND = {
  text: `
select n.id from tournaments n
where n.status = 'active' and n.round_length_seconds is not null
  and not exists (select from rounds r where r.tournament_id = n.id and r.status = 'open')
order by n.id limit $1`,
};

// A transaction takes this lock before it touches a round, if it opens one or changes the status
// that decides whether one opens.
const LOCK = { text: 'select * from tournaments where id = $1 for no key update' };

const INSERT = {
  text: `
insert into tournaments (id, program_id, environment, status, name, description, metric_name, metric_unit, direction,
  tiebreak_metric_name, tiebreak_direction, entry_fee_cents, attempt_cap, purse_cents, min_entrants, min_scored_attempts,
  round_length_seconds, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::bigint[], $15, $16, $17, $18)`,
};

const UPDATE_STATUS = { text: 'update tournaments set status = $2 where id = $1' };

const ALL: readonly TournamentStatus[] = ['active', 'paused', 'closed'];

export async function insertTournament(on: Queryable, tournament: Tournament): Promise<void> {
  const { terms, tenant } = tournament;
  await on.query(INSERT, [
    tournament.id,
    tenant.programId,
    tenant.environment,
    tournament.status,
    terms.name,
    terms.description,
    terms.metricName,
    terms.metricUnit,
    terms.direction,
    terms.tiebreak?.metricName ?? null,
    terms.tiebreak?.direction ?? null,
    terms.entryFeeCents,
    terms.attemptCap,
    terms.purse,
    terms.minEntrants,
    terms.minScoredAttempts,
    terms.roundLengthSeconds,
    tournament.createdAt,
  ]);
}

export async function findTournament(on: Queryable, id: string): Promise<TournamentWithRound | null> {
  const [row] = await on.query<TournamentRow>(SELECT_BY_ID, [id]);
  if (row === undefined) return null;
  return { tournament: toTournament(row), currentRound: (await loadCurrentRounds(on, [id])).get(id) ?? null };
}

/** A tournament of the program; null if the program has no such tournament. */
export async function findTournamentOfProgram(
  on: Queryable,
  programId: string,
  id: string,
): Promise<TournamentWithRound | null> {
  const found = await findTournament(on, id);
  return found?.tournament.tenant.programId === programId ? found : null;
}

/**
 * The positions of the tenant's tournaments after this position, newest first, each with the number
 * of ranks of its purse. A null status means any.
 */
export async function listTournamentPlaces(
  on: Queryable,
  tenant: Tenant,
  {
    after,
    status,
    limit,
  }: { readonly after: Position; readonly status: TournamentStatus | null; readonly limit: number },
): Promise<readonly (Position & { readonly ranks: number })[]> {
  const values = [tenant.programId, tenant.environment, after.at, after.id, status, limit];
  const rows = await on.query<{ id: string; created_at: Date; ranks: number }>(SELECT_PAGE, values);
  return rows.map(({ id, created_at: at, ranks }) => ({ at, id, ranks }));
}

/** The tournaments with these ids, which must exist, in the order of the ids. */
export async function loadTournaments(on: Queryable, ids: readonly string[]): Promise<readonly TournamentWithRound[]> {
  const rows = await on.query<TournamentRow>(SELECT_BY_IDS, [ids]);
  const found = new Map((await withRounds(on, rows)).map((one) => [one.tournament.id, one]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** The tenant's tournaments in any of these statuses, oldest first; by default all of them. */
export async function listTournamentsOf(
  on: Queryable,
  tenant: Tenant,
  statuses: readonly TournamentStatus[] = ALL,
): Promise<readonly TournamentWithRound[]> {
  const values = [tenant.programId, tenant.environment, statuses];
  return withRounds(on, await on.query<TournamentRow>(SELECT_OF_TENANT, values));
}

async function withRounds(on: Queryable, rows: readonly TournamentRow[]): Promise<readonly TournamentWithRound[]> {
  const tournaments = rows.map(toTournament);
  const rounds = await loadCurrentRounds(
    on,
    tournaments.map(({ id }) => id),
  );
  return tournaments.map((tournament) => ({ tournament, currentRound: rounds.get(tournament.id) ?? null }));
}

/** Tournaments whose next round opens automatically and is not open yet. */
export async function loadTournamentsWithoutRound(on: Queryable, limit: number): Promise<readonly string[]> {
  return (await on.query<{ id: string }>(SELECT_WITHOUT_ROUND, [limit])).map(({ id }) => id);
}

/**
 * Until the transaction ends, no other transaction can change the tournament's status or open its
 * rounds.
 */
export async function lockTournament(on: Queryable, id: string): Promise<Tournament | null> {
  const [row] = await on.query<TournamentRow>(LOCK, [id]);
  return row === undefined ? null : toTournament(row);
}

export async function updateTournamentStatus(on: Queryable, id: string, status: TournamentStatus): Promise<void> {
  await on.query(UPDATE_STATUS, [id, status]);
}

function toTournament(row: TournamentRow): Tournament {
  return {
    id: row.id,
    tenant: { programId: row.program_id, environment: row.environment },
    status: row.status,
    terms: {
      name: row.name,
      description: row.description,
      metricName: row.metric_name,
      metricUnit: row.metric_unit,
      direction: row.direction,
      tiebreak: toTiebreak(row),
      entryFeeCents: cents(row.entry_fee_cents),
      attemptCap: row.attempt_cap,
      purse: row.purse_cents.map(cents),
      minEntrants: row.min_entrants,
      minScoredAttempts: row.min_scored_attempts,
      roundLengthSeconds: row.round_length_seconds,
    },
    createdAt: row.created_at,
  };
}
