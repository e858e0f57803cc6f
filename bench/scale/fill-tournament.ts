/**
 * Ended rounds, with entries, outcomes, boards and payouts, in the tournament service's database.
 * The rounds are left `settling` with every payout paid, so that the service itself seals them.
 */
import type pg from 'pg';
import { type Contests, idAtSql } from './contests.ts';
import { withoutIndexes } from './deferred-indexes.ts';
import { CURRENT_SIGNING_KEY, INSERT_KEY_USES } from './fill-challenge.ts';
import { accountIdSql, attemptIdSql, derivedSql, digestSql, newIdSql, playerRefSql, roundIdSql } from './ids.ts';
import {
  FEE_CENTS,
  instantSql,
  isoSql,
  LARGE_PURSE_CENTS,
  LARGE_TURN,
  LARGE_TURNS,
  largeTurnSql,
  msSql,
  PAID_AFTER_MS,
  PROGRAMS,
  PURSE_CENTS,
  placeSql,
  ROUND_TAIL_MS,
  type Shape,
  scoreSql,
  settledMsSql,
  type Turn,
  turnSql,
  turnsOfHistory,
} from './shape.ts';

/** The most entries that a chunk of the large board gets here; the service splits at 1,024. */
const CHUNK = 700;

/** Returns SQL that computes the same attempts in every database, for one turn of rounds. */
export function roundAttemptsSql(shape: Shape, turn: Turn): string {
  const large = {
    plays: `select i, p, ms, 0 as program, ${PROGRAMS} as tournament, p as e from (${largeTurnSql(shape, turn)}) as turn`,
    first: `${LARGE_TURN * shape.players}`,
    entrants: shape.accounts,
  };
  const small = {
    plays: `select i, p, ms, program, program as tournament, e from (${turnSql(shape, turn)}) as turn`,
    first: 'i - e',
    entrants: shape.entrants,
  };
  const { plays, first, entrants } = turn.kind === 'large' ? large : small;
  return `
    select placed.*, id::text as id_text, ${scoreSql('place', entrants)} as score, ${instantSql('ms')} as created_at,
      ${instantSql('settled_ms')} as recorded_at
    from (
      select i, p, program, tournament, ms, ms + ${settledMsSql('i')} as settled_ms, ${placeSql('e', entrants)} as place,
        ${roundIdSql(shape, first)} as round_id, ${attemptIdSql('tournament', 'ms', 'i')} as id,
        ${accountIdSql(shape, 'p')} as account_id, ${playerRefSql('p')} as player_ref
      from (${plays}) as play
      offset 0
    ) as placed`;
}

/**
 * `$1` is the signing key, `$2` the purse. The signatures have the right length, but sign nothing.
 * The sort key is that of services/tournament/src/domain/board-sort-key.ts for a score above 0,
 * where higher is better.
 */
const fillTurn = (shape: Shape, contests: Contests, turn: Turn) => `
  with play as materialized (
    select entered.*,
      int8send((('x' || encode(float8send(score), 'hex'))::bit(64) # x'7fffffffffffffff')::bigint) || '\\x01'::bytea
        || decode(repeat('00', 8), 'hex') || substring(int8send(settled_ms) from 3) || uuid_send(entry_id) as sort_key
    from (
      select play.*, ${newIdSql('ms', `'entry ' || i`)} as entry_id, ${newIdSql('settled_ms', `'receipt ' || i`)} as receipt_id
      from (${roundAttemptsSql(shape, turn)}) as play
      offset 0
    ) as entered
  ),
  entered as (
    insert into entries (id, round_id, account_id, created_at, bought_at, best_attempt_id, best_score, best_score_at, best_player_ref,
      sort_key, final_rank, payout_cents)
    select entry_id, round_id, account_id, created_at, created_at, id, score, recorded_at, player_ref, sort_key, place + 1,
      coalesce(($2::bigint[])[place + 1], 0)
    from play order by i
  ),
  named as (
    insert into entry_refs (round_id, player_ref, account_id) select round_id, player_ref, account_id from play order by i
  ),
  attempted as (
    insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at)
    select id, round_id, entry_id, account_id, player_ref, 'settled', ${FEE_CENTS}, '{}', created_at from play order by i
  )
  insert into outcomes (attempt_id, receipt_id, score, recorded_at, receipt, signature, signing_key_id)
  select id, receipt_id, score, recorded_at, receipt, sha512(convert_to(receipt, 'UTF8')), $1::int
  from (
    select play.*, '{"attempt_created_at":"' || ${isoSql('created_at')} || '","attempt_id":"' || id_text
      || '","award":null,"environment":"live","evidence":null,"fee_charged":"1.00","met_threshold":false,"metric_name":"points"'
      || ',"metric_unit":"points","player_ref":"' || player_ref || '","program_id":"' || ${idAtSql(contests.programIds, 'program')}
      || '","receipt_id":"' || receipt_id || '","recorded_at":"' || ${isoSql('recorded_at')} || '","score":' || score
      || ',"threshold_applied":null,"threshold_direction":"higher_is_better","tiebreak":null,"tiebreak_direction":null'
      || ',"tiebreak_metric_name":null,"tournament_id":"' || ${idAtSql(contests.tournamentIds, 'tournament')} || '","tournament_round_id":"' || round_id
      || '","version":1}' as receipt
    from play order by i
  ) as signed`;

/** Returns SQL for the rounds of a turn. The large round belongs to the first of its turns. */
export function roundsSql(shape: Shape, turn: Turn): string {
  const { players, entrants, roundsPerTurn, accounts } = shape;
  const rounds =
    turn.kind === 'large'
      ? `select ${PROGRAMS} as tournament, 1 as number, ${LARGE_TURN * players} as first, ${accounts} as entrants`
      : `select r % ${PROGRAMS} as tournament, ${turn.nth * (roundsPerTurn / PROGRAMS)} + r / ${PROGRAMS} + 1 as number,
          ${turn.number * players} + r * ${entrants} as first, ${entrants} as entrants
        from generate_series(0, ${roundsPerTurn - 1}) as r`;
  return `
    select round.*, ${roundIdSql(shape, 'first')} as id, ${msSql(shape, 'first')} as opens_ms,
      ${msSql(shape, 'first + entrants - 1')} as entries_close_ms, ${msSql(shape, 'first + entrants - 1')} + ${ROUND_TAIL_MS} as closes_ms
    from (${rounds}) as round`;
}

/** `$1` has the tournaments. The rounds freeze their terms. */
const fillRounds = (shape: Shape, turn: Turn) => `
  with filled as materialized (${roundsSql(shape, turn)}),
  opened as (
    insert into rounds (id, tournament_id, program_id, environment, number, status, opens_at, entries_close_at, closes_at, direction,
      tiebreak_direction, entry_fee_cents, attempt_cap, purse_cents, min_entrants, min_scored_attempts, created_at)
    select f.id, t.id, t.program_id, t.environment, f.number, 'settling', ${instantSql('opens_ms')}, ${instantSql('entries_close_ms')},
      ${instantSql('closes_ms')}, t.direction, t.tiebreak_direction, t.entry_fee_cents, t.attempt_cap, t.purse_cents, t.min_entrants,
      t.min_scored_attempts, ${instantSql('opens_ms')}
    from filled f join tournaments t on t.id = ($1::uuid[])[1 + f.tournament]
  )
  insert into round_tallies (round_id, entrants, scored_players, scored_attempts) select id, entrants, entrants, entrants from filled`;

const FILL_CHUNKS = `
  insert into board_chunks (round_id, lower_sort_key, entries)
  select round_id, case piece when 0 then ''::bytea else min(sort_key) end, count(*)
  from (
    select round_id, sort_key, (row_number() over (partition by round_id order by sort_key) - 1) / ${CHUNK} as piece from entries
  ) as divided
  group by round_id, piece`;

const FILL_PAYOUTS = `
  insert into round_payouts (award_id, round_id, entry_id, account_id, final_rank, amount_cents, status, created_at, paid_at)
  select ${derivedSql('round_id::text', digestSql('round_id::text', `rank:' || final_rank || '`), '2')},
    round_id, e.id, e.account_id, final_rank, payout_cents, 'paid', at, at
  from entries e join rounds r on r.id = e.round_id
  cross join lateral (select r.closes_at + ${PAID_AFTER_MS} * interval '1 ms' as at) as paid
  where payout_cents > 0
  order by at, final_rank`;

/**
 * Numbers the open round of each tournament after the settling ones: it was made first, but is the
 * newest.
 */
const RENUMBER = `
  update rounds r set number = 1 + (select count(*) from rounds o where o.tournament_id = r.tournament_id and o.status = 'settling')
  where r.status = 'open' and r.tournament_id = any($1::uuid[])`;
const BACKDATE = `update tournaments set created_at = $1 where id = any($2::uuid[])`;

export async function fillTournament(client: pg.Client, shape: Shape, contests: Contests): Promise<void> {
  const { rows } = await client.query<{ id: number }>(CURRENT_SIGNING_KEY);
  const { tournamentIds } = contests;
  await client.query(BACKDATE, [new Date(shape.startMs - 3_600_000), tournamentIds]);
  await withoutIndexes(client, ['attempts', 'outcomes', 'entries', 'entry_refs', 'rounds'], async () => {
    for (const turn of turnsOfHistory()) {
      if (turn.kind === 'challenge') continue;
      const purse = turn.kind === 'large' ? LARGE_PURSE_CENTS : PURSE_CENTS;
      await client.query(fillTurn(shape, contests, turn), [rows[0]?.id, purse]);
      if (turn.kind === 'round' || turn.nth === LARGE_TURNS - 1)
        await client.query(fillRounds(shape, turn), [tournamentIds]);
    }
    await client.query(RENUMBER, [tournamentIds]);
  });
  await client.query(FILL_CHUNKS);
  await client.query(FILL_PAYOUTS);
  await client.query(INSERT_KEY_USES);
}
