/**
 * This service's own invariants, as queries for the rows that violate them; and the pages of rows
 * that the audit across services reads.
 *
 * A rule has two forms. `violations` reads whole tables, for the audit that an operator asks for.
 * `slices` is the same rule over some rows (audit-walks.ts), for the continuous audit. A rule
 * without slices reads only challenges, their bars and the changes of their status. These tables
 * stay small, unlike the tables of attempts.
 *
 * Two kinds of slices have no strict bound. A slice of attempts reads, for each attempt, the
 * player's paid attempts on the challenge within 24 hours; the daily cap bounds their number. A
 * slice of samples reads all samples of a challenge, which takes some seconds for 10 million.
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
import type { AttemptStatus, AwardStatus } from '@laurel/attempts/domain';
import {
  type CheckResult,
  type Database,
  type EnvironmentsOfIds,
  ofRows,
  type Queryable,
  runChecks,
  type SlicedCheck,
} from '@laurel/postgres';
import type { AuditedAttempt, AuditedAward } from '../domain/money-audit.ts';
import { CAP_WINDOW_MS } from '../domain/player-availability.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { BAR_CHECKS, rampCheckOf, SLOT_CHECKS } from './audit-bars.ts';
import { MONITOR_CHECKS } from './audit-monitors.ts';
import { AWARDS, BATCHES, OF_MONTHS } from './audit-walks.ts';

const CAP_WINDOW = `interval '${CAP_WINDOW_MS - 1} milliseconds'`;
const IS_ENDING = `status in ('expiring', 'voiding')`;

// Constraints already enforce most of these invariants; the audit notices if a constraint was
// switched off.
const CHECKS: readonly SlicedCheck[] = [
  { id: 'outcome_exactly_when_settled', ...SETTLED_HAS_OUTCOME },
  {
    id: 'met_threshold_follows_frozen_bar',
    description: 'The decision of every outcome follows from the bar that was frozen on its attempt.',
    ...ofRows(
      OUTCOMES,
      (outcomes) => `
      select o.key, o.attempt_id as id
      from ${outcomes} o join all_attempts a on a.id = o.attempt_id join challenges c on c.id = a.challenge_id
      where o.met_threshold is distinct from coalesce(
        case c.threshold_direction when 'higher_is_better' then o.score >= a.threshold else o.score <= a.threshold end, false)`,
    ),
  },
  {
    id: 'award_follows_from_its_attempt',
    description:
      'Every award belongs to an outcome that cleared the bar, and pays the prize that was frozen to the account that paid.',
    ...ofRows(
      AWARDS,
      (awards) => `
      select w.key, w.id
      from ${awards} w left join all_attempts a on a.id = w.attempt_id left join all_outcomes o on o.attempt_id = w.attempt_id
      where o.met_threshold is not true or a.prize_cents is distinct from w.amount_cents
        or a.account_id is distinct from w.account_id or a.challenge_id is distinct from w.challenge_id`,
    ),
  },
  {
    id: 'one_prize_per_challenge_and_account',
    description: 'An account wins the prize of a challenge at most once.',
    violations: `select min(id::text) as id from awards group by challenge_id, account_id having count(*) > 1`,
    slices: {
      [AWARDS.walk]: `
      select w.key, claim.first as id
      from ${AWARDS.inSlice} w
      cross join lateral (
        select min(same.id::text) as first, count(*) as awards from awards same
        where same.challenge_id = w.challenge_id and same.account_id = w.account_id
      ) claim
      where claim.awards > 1`,
    },
  },
  {
    id: 'cleared_bar_took_the_prize',
    description: 'Where an account cleared the bar of a challenge, it has that prize.',
    ...ofRows(
      OUTCOMES,
      (outcomes) => `
      select o.key, o.attempt_id as id
      from ${outcomes} o join all_attempts a on a.id = o.attempt_id
      left join awards w on w.challenge_id = a.challenge_id and w.account_id = a.account_id
      where o.met_threshold and w.id is null`,
    ),
  },
  {
    id: 'daily_cap_was_kept',
    description: 'No account has more paid attempts on a challenge in any 24 hours than its daily cap.',
    // Instants have millisecond precision; the window excludes attempts that are exactly 24 hours
    // old, because they no longer count. Archived attempts are not counted, because no index finds
    // them by player. Each was counted while it was in `attempts`.
    violations: `
      select counted.id
      from (
        select a.id, a.challenge_id, count(*) over (
          partition by a.challenge_id, a.account_id order by a.created_at
          range between ${CAP_WINDOW} preceding and current row) as in_window
        from attempts a
        where ${countsUnderCapSql('a')}
      ) counted join challenges c on c.id = counted.challenge_id
      where counted.in_window > c.daily_attempt_cap`,
    slices: {
      [ATTEMPTS.walk]: `
      select slice.key, a.id
      from slice join attempts a on a.id = slice.key join challenges c on c.id = a.challenge_id
      cross join lateral (
        select count(*) as attempts from attempts paid
        where paid.challenge_id = a.challenge_id and paid.account_id = a.account_id
          and paid.created_at between a.created_at - ${CAP_WINDOW} and a.created_at and ${countsUnderCapSql('paid')}
      ) in_window
      where ${countsUnderCapSql('a')} and in_window.attempts > c.daily_attempt_cap`,
    },
  },
  {
    id: 'refund_is_due_exactly_while_ending',
    description: 'A refund is queued exactly for the attempts that end and wait for it.',
    violations: `
      select coalesce(a.id, r.attempt_id) as id
      from (select id from attempts where ${IS_ENDING}) a
      full join refunds_due r on r.attempt_id = a.id
      where a.id is null or r.attempt_id is null`,
    slices: {
      [ATTEMPTS.walk]: `
      select a.key, a.id
      from ${ATTEMPTS.inSlice} a left join refunds_due r on r.attempt_id = a.id
      where a.${IS_ENDING} and r.attempt_id is null`,
      [REFUNDS_DUE.walk]: `
      select r.key, r.attempt_id as id
      from ${REFUNDS_DUE.inSlice} r left join attempts a on a.id = r.attempt_id and a.${IS_ENDING}
      where a.id is null`,
    },
  },
  {
    id: 'attempt_has_its_challenge',
    description: 'Every attempt belongs to a challenge.',
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select a.key, a.id from ${attempts} a left join challenges c on c.id = a.challenge_id where c.id is null`,
    ),
  },
  { id: 'receipt_has_its_key', ...RECEIPT_HAS_KEY },
];

/** The rows that the deletion of archived months must leave (decision 38). */
const ARCHIVE_CHECKS: readonly SlicedCheck[] = [
  { id: 'attempt_is_kept_once', ...ATTEMPT_IS_KEPT_ONCE },
  { id: 'archived_month_keeps_its_totals', ...archivedMonthKeepsItsTotals(OF_MONTHS) },
  {
    id: 'archived_attempt_is_of_a_batch',
    description: 'Each archived attempt is of a deleted batch.',
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select a.key, kept.id
      from ${attempts} a join archived_attempts kept on kept.id = a.id
      where (
        select b.end_id > kept.id and b.deleted_at is not null
        from archived_batches b where b.least_id <= kept.id order by b.least_id desc limit 1
      ) is not true`,
    ),
  },
  {
    id: 'archived_batch_kept_its_attempts',
    description: 'Each attempt of a deleted batch is archived, and none of it is in use.',
    // A batch is named by its least id.
    ...ofRows(
      BATCHES,
      (batches) => `
      select b.key, b.least_id as id
      from ${batches} b
      where b.attempts <> (select count(*) from archived_attempts a where a.id >= b.least_id and a.id < b.end_id)
        or exists (select from attempts a where a.id >= b.least_id and a.id < b.end_id)`,
    ),
  },
];

/**
 * The environments of all ids: attempts, awards and receipts have the environment of their
 * challenge.
 */
export const ENVIRONMENTS: EnvironmentsOfIds = `
  select id, environment from challenges
  union all
  select a.id, c.environment from all_attempts a join challenges c on c.id = a.challenge_id
  union all
  select w.id, c.environment from awards w join challenges c on c.id = w.challenge_id
  union all
  select o.receipt_id, c.environment
  from all_outcomes o join all_attempts a on a.id = o.attempt_id join challenges c on c.id = a.challenge_id`;

/** Every check of this database. */
export function ownChecks(ceilings: TierCeilings): readonly SlicedCheck[] {
  return [...CHECKS, ...ARCHIVE_CHECKS, ...BAR_CHECKS, ...SLOT_CHECKS, ...MONITOR_CHECKS, rampCheckOf(ceilings)];
}

/** Runs the checks over all rows, in one snapshot. */
export function runOwnChecks(database: Database, ceilings: TierCeilings, signal?: AbortSignal): Promise<CheckResult[]> {
  return runChecks(database, ownChecks(ceilings), ENVIRONMENTS, signal);
}

type AttemptRow = { id: string; status: AttemptStatus; account_id: string | null; fee_cents: bigint };
type AwardRow = { id: string; status: AwardStatus; attempt_id: string; account_id: string; amount_cents: bigint };

const PAGE_OF_ATTEMPTS = {
  text: 'select id, status, account_id, fee_cents from all_attempts where id > $1 and fee_cents > 0 order by id limit $2',
};
const ATTEMPTS_AGAIN = {
  text: 'select id, status, account_id, fee_cents from all_attempts where id = any($1::uuid[])',
};
const PAGE_OF_AWARDS = {
  text: 'select id, status, attempt_id, account_id, amount_cents from awards where id > $1 order by id limit $2',
};
const AWARDS_AGAIN = {
  text: 'select id, status, attempt_id, account_id, amount_cents from awards where id = any($1::uuid[])',
};

/** Reads paid attempts with an id above `after`, in id order, as a map by id. */
export async function pageOfAttempts(
  on: Queryable,
  after: string,
  limit: number,
): Promise<Map<string, AuditedAttempt>> {
  return byId(await on.query<AttemptRow>(PAGE_OF_ATTEMPTS, [after, limit]), toAttempt);
}

export async function rereadAttempts(on: Queryable, ids: readonly string[]): Promise<Map<string, AuditedAttempt>> {
  return byId(await on.query<AttemptRow>(ATTEMPTS_AGAIN, [ids]), toAttempt);
}

/** Reads awards with an id above `after`, in id order, as a map by id. */
export async function pageOfAwards(on: Queryable, after: string, limit: number): Promise<Map<string, AuditedAward>> {
  return byId(await on.query<AwardRow>(PAGE_OF_AWARDS, [after, limit]), toAward);
}

export async function rereadAwards(on: Queryable, ids: readonly string[]): Promise<Map<string, AuditedAward>> {
  return byId(await on.query<AwardRow>(AWARDS_AGAIN, [ids]), toAward);
}

function byId<Row extends { id: string }, Value>(rows: readonly Row[], to: (row: Row) => Value): Map<string, Value> {
  return new Map(rows.map((row) => [row.id, to(row)]));
}

function toAttempt(row: AttemptRow): AuditedAttempt {
  return { status: row.status, accountId: row.account_id, feeCents: row.fee_cents };
}

function toAward(row: AwardRow): AuditedAward {
  return { status: row.status, attemptId: row.attempt_id, accountId: row.account_id, amountCents: row.amount_cents };
}
