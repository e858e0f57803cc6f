/**
 * The invariants of this service, each as a query for the rows that break it; and the pages that
 * the audit across services reads.
 *
 * A rule has two forms. `violations` reads whole tables, for the audit that an operator asks for.
 * `slices` is the same rule over some rows (audit-walks.ts), for the continuous audit.
 *
 * An order is checked by neighbours: if each entry of a board follows the one before it, by its run
 * or by its rank, the whole board is in order.
 *
 * Three kinds of slices are not strictly bounded:
 * - A slice of boards counts the entries of a whole round: some seconds for a million.
 * - A slice of attempts or entries reads all attempts of an account in its round, which the round's
 *   cap bounds.
 * - A slice of rounds reads all rounds of its tournaments.
 */

import {
  ATTEMPT_IS_KEPT_ONCE,
  ATTEMPTS,
  archivedMonthKeepsItsTotals,
  countsUnderCapSql,
  OUTCOMES,
  RECEIPT_HAS_KEY,
  REFUNDS_DUE,
  SETTLED_HAS_OUTCOME,
} from '@laurel/attempts';
import type { AttemptStatus } from '@laurel/attempts/domain';
import {
  type CheckResult,
  type Database,
  type EnvironmentsOfIds,
  ofRows,
  type Queryable,
  runChecks,
  type SlicedCheck,
} from '@laurel/postgres';
import type { AwardStatus, RoundStatus } from '../domain/tournament.ts';
import {
  BATCHES,
  BOARDS,
  ENTRIES,
  ENTRIES_OF_OUTCOMES,
  OF_MONTHS,
  PLACES,
  ROUND_PAYOUTS,
  ROUNDS,
  SUM,
} from './audit-walks.ts';
import { makesEntrantSql } from './entrants.ts';

/** A sort key above every sort key of a board. */
const ABOVE_ALL = `'\\x${'ff'.repeat(40)}'::bytea`;

/** Whether the attempt `a` belongs to the entry `e`. */
const IS_OF_ENTRY = 'a.round_id = e.round_id and a.account_id = e.account_id and a.entry_id = e.id';
const WAS_PAID = `a.status not in ('pending', 'refused')`;
const IS_NO_ENTRANT = `
      case
        when r.status = 'open' then (e.bought_at is not null) <> coalesce(paid.is_kept, false)
        when e.bought_at is null then coalesce(paid.is_kept, false)
        else coalesce(paid.attempts, 0) = 0
      end`;

/** The rows of `entries` whose stored best run is not the best of the entry's runs. */
const notTheBestSql = (entries: string) => `
      select e.key, e.id
      from ${entries} e
      left join (
        select distinct on (e.id) e.id as entry_id, o.score, o.tiebreak, o.recorded_at
        from ${entries} e
        join all_attempts a on ${IS_OF_ENTRY}
        join all_outcomes o on o.attempt_id = a.id and o.receipt_id is not null
        join rounds r on r.id = a.round_id
        order by e.id,
          case r.direction when 'higher_is_better' then -o.score else o.score end,
          case r.tiebreak_direction when 'higher_is_better' then -o.tiebreak when 'lower_is_better' then o.tiebreak end nulls last,
          o.recorded_at
      ) best on best.entry_id = e.id
      where (e.best_score, e.best_tiebreak, e.best_score_at) is distinct from (best.score, best.tiebreak, best.recorded_at)
        or not exists (
          select from all_attempts a join all_outcomes o on o.attempt_id = a.id
          where a.id = e.best_attempt_id and a.entry_id = e.id and a.player_ref = e.best_player_ref
            and (o.score, o.tiebreak, o.recorded_at) is not distinct from (best.score, best.tiebreak, best.recorded_at)
        ) and e.sort_key is not null`;

/**
 * Whether the tally or the board of a round is missing, or has a wrong count, scored attempts
 * aside.
 */
const TALLY_DIFFERS = `
      b.round_id is null or t.scored_players is distinct from coalesce(e.scored_players, 0)
        or case
          -- A round that ended before refunds took entrants out of it counts every account that had ever paid, as its seal does.
          when r.status <> 'open' and t.entrants = t.scored_players then false
          else t.entrants is distinct from coalesce(e.entrants, 0)
        end`;
const COUNTED_ENTRIES = 'count(*) filter (where bought_at is not null) as entrants, count(sort_key) as scored_players';

/** What an entry with a final rank is owed, and whether its payout differs. */
const OWED = '(r.purse_cents)[e.final_rank]';
const PAYOUT_DIFFERS = `
        e.payout_cents <> coalesce(${OWED}, 0)
        or (${OWED} is null) <> (p.award_id is null)
        or (p.award_id is not null and (e.round_id, e.account_id, e.final_rank, ${OWED})
          is distinct from (p.round_id, p.account_id, p.final_rank, p.amount_cents))`;

const IS_ENDING = `status in ('expiring', 'voiding')`;
const IS_REFUNDED_BY_ROUND = `exists (
        select from attempts s join rounds r on r.id = s.round_id
        where s.id = d.attempt_id and s.status = 'settled' and r.status = 'cancelling' and d.reason = 'round_cancelled')`;

// Constraints already enforce some of these. The audit still finds violations if a constraint is
// switched off.
const OWN_CHECKS: readonly SlicedCheck[] = [
  { id: 'run_exactly_when_settled', ...SETTLED_HAS_OUTCOME },
  {
    id: 'attempt_has_its_entry',
    description:
      'Every attempt belongs to the entry of its account in its round, at the fee that is frozen on the round.',
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select a.key, a.id
      from ${attempts} a left join entries e on e.id = a.entry_id left join rounds r on r.id = a.round_id
      where e.round_id is distinct from a.round_id or e.account_id is distinct from a.account_id
        or r.entry_fee_cents is distinct from a.fee_cents`,
    ),
  },
  {
    id: 'entrant_has_a_fee_that_was_not_returned',
    description:
      'An account is an entrant of an open round exactly while a fee of it was not returned, and of one that is over if it scored.',
    violations: `
      select e.id
      from entries e
      join rounds r on r.id = e.round_id
      left join (
        select a.entry_id, a.round_id, a.account_id, bool_or(${makesEntrantSql('a')}) as is_kept, count(*) as attempts
        from all_attempts a where ${WAS_PAID} group by a.entry_id, a.round_id, a.account_id
      ) paid on paid.entry_id = e.id and paid.round_id = e.round_id and paid.account_id = e.account_id
      where ${IS_NO_ENTRANT}`,
    slices: {
      [ENTRIES.walk]: `
      select e.key, e.id
      from ${ENTRIES.inSlice} e
      join rounds r on r.id = e.round_id
      cross join lateral (
        select bool_or(${makesEntrantSql('a')}) as is_kept, count(*) as attempts
        from all_attempts a where ${IS_OF_ENTRY} and ${WAS_PAID}
      ) paid
      where ${IS_NO_ENTRANT}`,
    },
  },
  {
    id: 'cap_was_kept',
    description: 'No account has more attempts in a round than its cap, refunded ones aside.',
    violations: `
      select min(a.id::text) as id
      from all_attempts a join rounds r on r.id = a.round_id
      where ${countsUnderCapSql('a')}
      group by a.round_id, a.account_id, r.attempt_cap
      having count(*) > r.attempt_cap`,
    slices: {
      [ATTEMPTS.walk]: `
      select player.key, paid.first as id
      from (
        select a.round_id, a.account_id, min(a.key::text)::uuid as key
        from ${ATTEMPTS.inSlice} a where ${countsUnderCapSql('a')} group by a.round_id, a.account_id
      ) player
      join rounds r on r.id = player.round_id
      cross join lateral (
        select count(*) as attempts, min(a.id::text) as first from all_attempts a
        where a.round_id = player.round_id and a.account_id = player.account_id and ${countsUnderCapSql('a')}
      ) paid
      where paid.attempts > r.attempt_cap`,
    },
  },
  {
    id: 'best_run_is_the_best',
    description: 'Every entry stands on the board with the best of its settled runs, and none without one.',
    violations: notTheBestSql(ENTRIES.all),
    slices: {
      [ENTRIES.walk]: notTheBestSql(ENTRIES.inSlice),
      // A new score is found in the next run by its outcome, which is new. Its entry may be old.
      [OUTCOMES.walk]: notTheBestSql(ENTRIES_OF_OUTCOMES.inSlice),
    },
  },
  {
    id: 'sort_key_is_the_order',
    description: 'Sort keys order each board by score, then tiebreak, then instant, then entry id.',
    ...ofRows(PLACES, (places) => `select key, id from ${places} place where place.run_before >= place.run`),
  },
  {
    id: 'chunks_count_the_board',
    description: 'Every chunk of a board counts exactly the entries that lie in it, and every entry lies in one.',
    violations: `
      select distinct coalesce(b.round_id, actual.round_id) as id
      from board_chunks b
      full join (
        select located.round_id, located.lower_sort_key, count(*) as entries
        from (
          select marks.round_id, marks.is_entry,
            -- Chunks sort before entries at the same sort key; the last chunk seen is the one that an entry lies in.
            max(marks.lower_sort_key) over (partition by marks.round_id order by marks.sort_key, marks.is_entry) as lower_sort_key
          from (
            select round_id, lower_sort_key as sort_key, lower_sort_key, false as is_entry from board_chunks
            union all
            select round_id, sort_key, null, true from entries where sort_key is not null
          ) marks
        ) located
        where located.is_entry
        group by located.round_id, located.lower_sort_key
      ) actual on actual.round_id = b.round_id and actual.lower_sort_key = b.lower_sort_key
      where b.round_id is null or b.entries <> coalesce(actual.entries, 0)`,
    slices: {
      [BOARDS.walk]: `
      select slice.key, slice.key as id
      from slice
      where exists (
        select from (
          select entries, lower_sort_key, lead(lower_sort_key, 1, ${ABOVE_ALL}) over (order by lower_sort_key) as upper_sort_key
          from board_chunks where round_id = slice.key
        ) b
        where b.entries <> (
          select count(*) from entries e
          where e.round_id = slice.key and e.sort_key >= b.lower_sort_key and e.sort_key < b.upper_sort_key)
      ) or exists (
        select from entries e
        where e.round_id = slice.key and e.sort_key < coalesce(
          (select min(b.lower_sort_key) from board_chunks b where b.round_id = slice.key), ${ABOVE_ALL}))`,
    },
  },
  {
    id: 'round_has_its_tally_and_board',
    description:
      'Every round has a tally that counts its entrants (at its end, those who scored), scored players and scored attempts, and a board.',
    violations: `
      select r.id
      from rounds r
      left join round_tallies t on t.round_id = r.id
      left join board_chunks b on b.round_id = r.id and b.lower_sort_key = ''
      left join (select round_id, ${COUNTED_ENTRIES} from entries group by round_id) e on e.round_id = r.id
      left join (
        select a.round_id, count(*) as scored_attempts
        from ${OUTCOMES.all} o join all_attempts a on a.id = o.attempt_id group by a.round_id
      ) o on o.round_id = r.id
      where t.scored_attempts is distinct from coalesce(o.scored_attempts, 0) or ${TALLY_DIFFERS}`,
    slices: {
      [BOARDS.walk]: `
      select r.key, r.id
      from ${BOARDS.inSlice} r
      left join round_tallies t on t.round_id = r.id
      left join board_chunks b on b.round_id = r.id and b.lower_sort_key = ''
      cross join lateral (select ${COUNTED_ENTRIES} from entries where round_id = r.id) e
      where ${TALLY_DIFFERS}`,
    },
    atEnd: `
      select tallied.key::uuid as id
      from audit_sums tallied
      left join audit_sums scored on scored.name = '${SUM.scored}' and scored.key = tallied.key
      where tallied.name = '${SUM.tallied}' and tallied.cents <> coalesce(scored.cents, 0)`,
  },
  {
    id: 'round_froze_its_terms',
    description: 'The terms that are frozen on a round are those of its tournament.',
    ...ofRows(
      ROUNDS,
      (rounds) => `
      select r.key, r.id
      from ${rounds} r left join tournaments n on n.id = r.tournament_id
      where (r.program_id, r.environment, r.direction, r.tiebreak_direction, r.entry_fee_cents, r.attempt_cap, r.purse_cents,
          r.min_entrants, r.min_scored_attempts)
        is distinct from (n.program_id, n.environment, n.direction, n.tiebreak_direction, n.entry_fee_cents, n.attempt_cap,
          n.purse_cents, n.min_entrants, n.min_scored_attempts)`,
    ),
  },
  {
    id: 'one_open_round_per_tournament',
    description: 'A tournament has at most one open round, and it is the newest.',
    violations: `
      select tournament_id as id from rounds
      group by tournament_id
      having count(*) filter (where status = 'open') > 1 or max(number) <> max(number) filter (where status = 'open')`,
    slices: {
      [ROUNDS.walk]: `
      select n.key, n.tournament_id as id
      from (select tournament_id, min(key::text)::uuid as key from ${ROUNDS.inSlice} r group by tournament_id) n
      cross join lateral (
        select count(*) filter (where status = 'open') as open, max(number) as newest, max(number) filter (where status = 'open') as newest_open
        from rounds where tournament_id = n.tournament_id
      ) r
      where r.open > 1 or r.newest <> r.newest_open`,
    },
  },
  {
    id: 'final_ranks_are_the_board',
    description:
      'In a round that ran every entry with a run has the final rank of its sort key, from 1 without a gap; elsewhere none has.',
    ...ofRows(
      PLACES,
      (places) => `
      select key, id from ${places} place
      where place.final_rank is distinct from
        case when place.status in ('settling', 'settled') then case when place.id_before is null then 1 else place.rank_before + 1 end end`,
    ),
  },
  {
    id: 'payouts_are_the_frozen_purse',
    description:
      'A round that ran pays the ranks that are present exactly what its frozen purse lists, each to its entry; no other round pays.',
    violations: `
      select distinct coalesce(e.id, p.entry_id) as id
      from (entries e join rounds r on r.id = e.round_id and e.final_rank is not null)
      full join round_payouts p on p.entry_id = e.id
      where e.id is null or ${PAYOUT_DIFFERS}`,
    slices: {
      [ENTRIES.walk]: `
      select e.key, e.id
      from ${ENTRIES.inSlice} e
      join rounds r on r.id = e.round_id
      left join round_payouts p on p.entry_id = e.id
      where e.final_rank is not null and (${PAYOUT_DIFFERS})`,
      [ROUND_PAYOUTS.walk]: `
      select p.key, p.entry_id as id
      from ${ROUND_PAYOUTS.inSlice} p
      left join (entries e join rounds r on r.id = e.round_id) on e.id = p.entry_id
      where e.final_rank is null`,
    },
  },
  {
    id: 'settled_round_is_complete',
    description:
      'A settled round has every payout decided, every attempt ended, and a seal over each of its scored attempts.',
    ...ofRows(
      ROUNDS,
      (rounds) => `
      select r.key, r.id
      from ${rounds} r
      left join seals s on s.round_id = r.id
      left join round_tallies t on t.round_id = r.id
      cross join lateral (select count(*) as blocks from seal_nodes where round_id = r.id) n
      where (r.status = 'settled') <> (s.round_id is not null)
        or (r.status = 'settled' and (
          s.leaves is distinct from t.scored_attempts or n.blocks <> (s.leaves + 1023) / 1024
          or exists (select from round_payouts p where p.round_id = r.id and p.status = 'paying')
        ))`,
    ),
  },
  {
    id: 'round_that_is_over_has_no_open_attempt',
    description: 'No attempt of a round that is over is open or on its way to be.',
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select a.key, a.id from ${attempts} a join rounds r on r.id = a.round_id
      where r.status <> 'open' and a.status in ('pending', 'open')`,
    ),
  },
  {
    id: 'cancelled_round_is_refunded',
    description: 'A cancelled round owes no refund any more.',
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select a.key, a.id
      from ${attempts} a join rounds r on r.id = a.round_id left join refunds_due d on d.attempt_id = a.id
      where r.status = 'cancelled' and (d.attempt_id is not null or a.status in ('pending', 'open', 'expiring', 'voiding'))`,
    ),
  },
  {
    id: 'round_that_an_operator_cancelled_does_not_run',
    description: 'A round that an operator cancelled neither settles nor pays.',
    ...ofRows(
      ROUNDS,
      (rounds) => `
      select r.key, r.id from ${rounds} r join round_cancellations x on x.round_id = r.id
      where r.status in ('settling', 'settled') or exists (select from round_payouts p where p.round_id = r.id)`,
    ),
  },
  {
    id: 'entry_refund_is_due_exactly_while_ending',
    description:
      'A refund is queued exactly for attempts that end and wait for it, and for scored ones while their round is cancelling.',
    violations: `
      select coalesce(a.id, d.attempt_id) as id
      from (select id from attempts where ${IS_ENDING}) a
      full join refunds_due d on d.attempt_id = a.id
      where d.attempt_id is null or (a.id is null and not ${IS_REFUNDED_BY_ROUND})`,
    slices: {
      [ATTEMPTS.walk]: `
      select a.key, a.id
      from ${ATTEMPTS.inSlice} a left join refunds_due d on d.attempt_id = a.id
      where a.${IS_ENDING} and d.attempt_id is null`,
      [REFUNDS_DUE.walk]: `
      select d.key, d.attempt_id as id
      from ${REFUNDS_DUE.inSlice} d left join attempts a on a.id = d.attempt_id and a.${IS_ENDING}
      where a.id is null and not ${IS_REFUNDED_BY_ROUND}`,
    },
  },
  { id: 'run_receipt_has_its_key', ...RECEIPT_HAS_KEY },
];

/** Whether the attempt `a` is of the entries of the batch `b`. */
const IS_OF_BATCH = `
  (a.round_id, a.account_id) >= (b.least_round_id, b.least_account_id)
  and (a.round_id, a.account_id) < (b.end_round_id, b.end_account_id)`;

/** The rows that the deletion of archived months must leave (decision 38). */
const ARCHIVE_CHECKS: readonly SlicedCheck[] = [
  { id: 'round_attempt_is_kept_once', ...ATTEMPT_IS_KEPT_ONCE },
  { id: 'archived_month_of_rounds_keeps_its_totals', ...archivedMonthKeepsItsTotals(OF_MONTHS) },
  {
    id: 'archived_round_attempt_is_of_a_batch',
    description: 'Each archived attempt of a round is of a deleted batch of the month in which its round ended.',
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select any_attempt.key, a.id
      from ${attempts} any_attempt join archived_attempts a on a.id = any_attempt.id
      where (
        select (a.round_id, a.account_id) < (b.end_round_id, b.end_account_id) and b.deleted_at is not null
        from rounds c
        join archived_months m on c.closes_at >= m.begins_at and c.closes_at < m.ends_at
        join archived_batches b on b.month = m.month and (b.least_round_id, b.least_account_id) <= (a.round_id, a.account_id)
        where c.id = a.round_id
        order by b.least_round_id desc, b.least_account_id desc limit 1
      ) is not true`,
    ),
  },
  {
    id: 'archived_batch_of_rounds_kept_its_attempts',
    description: 'Each attempt of a deleted batch of rounds is archived, and none of it is in use.',
    ...ofRows(
      BATCHES,
      (batches) => `
      select b.key, b.id
      from ${batches} b join archived_months m on m.month = b.month
      cross join lateral (
        select coalesce(sum(of_round.archived), 0) as archived, coalesce(sum(of_round.in_use), 0) as in_use
        from rounds r
        cross join lateral (
          select (select count(*) from archived_attempts a where a.round_id = r.id and ${IS_OF_BATCH}) as archived,
            (select count(*) from attempts a where a.round_id = r.id and ${IS_OF_BATCH}) as in_use
        ) of_round
        where r.closes_at >= m.begins_at and r.closes_at < m.ends_at
          and r.id >= b.least_round_id and r.id <= b.end_round_id
      ) found
      where found.archived <> b.attempts or found.in_use > 0`,
    ),
  },
];

/** The audit's rules of this database. */
export const CHECKS: readonly SlicedCheck[] = [...OWN_CHECKS, ...ARCHIVE_CHECKS];

/** The environment of attempts, entries, payouts and receipts is their round's. */
export const ENVIRONMENTS: EnvironmentsOfIds = `
  select id, environment from tournaments
  union all
  select id, environment from rounds
  union all
  select a.id, r.environment from all_attempts a join rounds r on r.id = a.round_id
  union all
  select e.id, r.environment from entries e join rounds r on r.id = e.round_id
  union all
  select p.award_id, r.environment from round_payouts p join rounds r on r.id = p.round_id
  union all
  select o.receipt_id, r.environment
  from all_outcomes o join all_attempts a on a.id = o.attempt_id join rounds r on r.id = a.round_id`;

/** Runs the checks of this database over everything, in one snapshot. */
export function runOwnChecks(database: Database, signal?: AbortSignal): Promise<CheckResult[]> {
  return runChecks(database, CHECKS, ENVIRONMENTS, signal);
}

/** An attempt as the audit across services reads it. */
export type AuditedAttemptRow = {
  readonly id: string;
  readonly status: AttemptStatus;
  readonly accountId: string;
  readonly feeCents: bigint;
  /** A scored attempt of a cancelled round is refunded and stays `settled`. */
  readonly roundStatus: RoundStatus;
};

/** A payout as the audit across services reads it. */
export type AuditedPayoutRow = {
  readonly id: string;
  readonly status: AwardStatus;
  readonly roundId: string;
  readonly accountId: string;
  readonly amountCents: bigint;
};

type AttemptRow = {
  id: string;
  status: AttemptStatus;
  account_id: string;
  fee_cents: bigint;
  round_status: RoundStatus;
};
type PayoutRow = { id: string; status: AwardStatus; round_id: string; account_id: string; amount_cents: bigint };

const ATTEMPT = `
select a.id, a.status, a.account_id, a.fee_cents, r.status as round_status from all_attempts a join rounds r on r.id = a.round_id`;
const PAGE_OF_ATTEMPTS = { text: `${ATTEMPT} where a.id > $1 order by a.id limit $2` };
const ATTEMPTS_AGAIN = { text: `${ATTEMPT} where a.id = any($1::uuid[])` };

const PAYOUT = 'select award_id as id, status, round_id, account_id, amount_cents from round_payouts';
const PAGE_OF_PAYOUTS = { text: `${PAYOUT} where award_id > $1 order by award_id limit $2` };
const PAYOUTS_AGAIN = { text: `${PAYOUT} where award_id = any($1::uuid[])` };

/** Attempts above an id, by id, in id order. */
export async function pageOfAttempts(
  on: Queryable,
  after: string,
  limit: number,
): Promise<Map<string, AuditedAttemptRow>> {
  return byId(await on.query<AttemptRow>(PAGE_OF_ATTEMPTS, [after, limit]), toAttempt);
}

export async function rereadAttempts(on: Queryable, ids: readonly string[]): Promise<Map<string, AuditedAttemptRow>> {
  return byId(await on.query<AttemptRow>(ATTEMPTS_AGAIN, [ids]), toAttempt);
}

/** Payouts above an award id, by award id, in its order. */
export async function pageOfPayouts(
  on: Queryable,
  after: string,
  limit: number,
): Promise<Map<string, AuditedPayoutRow>> {
  return byId(await on.query<PayoutRow>(PAGE_OF_PAYOUTS, [after, limit]), toPayout);
}

export async function rereadPayouts(on: Queryable, ids: readonly string[]): Promise<Map<string, AuditedPayoutRow>> {
  return byId(await on.query<PayoutRow>(PAYOUTS_AGAIN, [ids]), toPayout);
}

function byId<Row extends { id: string }, Value>(rows: readonly Row[], to: (row: Row) => Value): Map<string, Value> {
  return new Map(rows.map((row) => [row.id, to(row)]));
}

function toAttempt(row: AttemptRow): AuditedAttemptRow {
  return {
    id: row.id,
    status: row.status,
    accountId: row.account_id,
    feeCents: row.fee_cents,
    roundStatus: row.round_status,
  };
}

function toPayout(row: PayoutRow): AuditedPayoutRow {
  return {
    id: row.id,
    status: row.status,
    roundId: row.round_id,
    accountId: row.account_id,
    amountCents: row.amount_cents,
  };
}
