/** Stores awards. A row is also the player's claim to the prize. */

import type { AwardStatus, Environment, OwedAward, PayoutOf } from '@laurel/attempts/domain';
import type { OutboxRow } from '@laurel/events';
import type { Database, Queryable } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { Award, Outcome } from '../domain/challenge.ts';

/** An award whose status has just changed, and the other facts that its event needs. */
export type ChangedAward = OwedAward<Award> & {
  readonly previousStatus: AwardStatus;
  readonly playerRef: string;
  readonly outcome: Pick<Outcome, 'score' | 'metThreshold' | 'recordedAt'>;
};

type AwardRow = {
  id: string;
  attempt_id: string;
  challenge_id: string;
  account_id: string;
  amount_cents: bigint;
  status: AwardStatus;
  created_at: Date;
  paid_at: Date | null;
};
type AwardWithTenantRow = AwardRow & { program_id: string; environment: Environment };
type ChangedAwardRow = AwardWithTenantRow & {
  asked: AwardStatus;
  player_ref: string;
  score: number;
  met_threshold: boolean;
  recorded_at: Date;
};

/**
 * SQL: the first status of an award. The locked row of the challenge states whether drift has
 * suspended the challenge.
 */
export const newAwardStatusSql = (challenge: string): string =>
  `case when ${challenge}.suspended_by_drift then 'holding' else 'paying' end`;

// The statement first locks the rows of the challenges. If it has waited for a suspension, it reads
// these rows as the suspension left them, so the wallet holds every win that is recorded after the
// suspension. Winners share the lock.
//
// The unique constraint decides the claim. All batches insert claims in the same order, so that two
// batches with the same claims cannot deadlock. If a batch has two claims of one account, the claim
// of the earlier report comes first.
const CLAIM = {
  name: 'awards_claim',
  text: `
with won as materialized (
  select c.id, c.suspended_by_drift from challenges c where c.id = any($3::uuid[]) order by c.id for share
)
insert into awards (id, attempt_id, challenge_id, account_id, amount_cents, status, created_at)
select i.id, i.attempt_id, i.challenge_id, i.account_id, i.amount_cents, ${newAwardStatusSql('won')}, $6
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[]) with ordinality
  as i (id, attempt_id, challenge_id, account_id, amount_cents, position)
join won on won.id = i.challenge_id
order by i.challenge_id, i.account_id, i.position
on conflict (challenge_id, account_id) do nothing
returning attempt_id, status`,
};

const WITH_TENANT = `select w.*, c.program_id, c.environment from awards w join challenges c on c.id = w.challenge_id`;

const SELECT_BY_ATTEMPT = { name: 'award_by_attempt', text: `${WITH_TENANT} where w.attempt_id = $1` };

const SELECT_BY_ATTEMPTS = {
  name: 'awards_by_attempts',
  text: `${WITH_TENANT} where w.attempt_id = any($1::uuid[])`,
};

const SELECT_BY_ID = { text: `${WITH_TENANT} where w.id = $1` };

const SELECT_UNFINISHED = {
  text: `
select * from (
  (${WITH_TENANT} where w.status in ('paying', 'releasing', 'denying') and w.created_at <= $1 order by w.created_at limit $2)
  union all
  (${WITH_TENANT} where w.status = 'holding' and w.created_at <= $1 order by w.created_at limit $2)
) unfinished order by created_at limit $2`,
};

// The statement compares the status, because the wallet's response for one status must not change
// an award that has reached another status since.
const RECORD_PAYOUTS = {
  name: 'awards_record_payouts',
  text: `
with held as materialized (
  select f.*
  from (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) as f (id, asked, status, paid_at) order by id
  ) f
  cross join lateral (select from awards w where w.id = f.id and w.status = f.asked for no key update) w
), moved as (
  update awards w set status = held.status, paid_at = held.paid_at from held where w.id = held.id returning w.*, held.asked
)
select m.*, c.program_id, c.environment, a.player_ref, o.score, o.met_threshold, o.recorded_at
from moved m
join challenges c on c.id = m.challenge_id
join attempts a on a.id = m.attempt_id
join outcomes o on o.attempt_id = m.attempt_id`,
};

const RECORD_WITH_EVENTS = {
  name: 'awards_record_with_events',
  text: `
with held as materialized (
  select f.*
  from (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::uuid[], $6::bytea[], $7::text[])
      as f (id, asked, status, paid_at, event_id, payload, environment)
    order by id
  ) f
  cross join lateral (select from awards w where w.id = f.id and w.status = f.asked for no key update) w
), moved as (
  update awards w set status = held.status, paid_at = held.paid_at from held where w.id = held.id
  returning w.id, held.event_id, held.payload, held.environment
), emitted as (
  insert into outbox (event_id, payload, environment)
  select event_id, payload, environment from moved order by event_id
  on conflict (event_id) do nothing
)
select id from moved`,
};

const MOVE = { text: 'update awards set status = $3 where id = $1 and status = $2 returning id' };

/** The first status of an award: to be paid, or to be held by the wallet. */
export type NewAwardStatus = Extract<AwardStatus, 'paying' | 'holding'>;

/** Claims prizes. Returns the attempts that won their prize, each with the status of the award. */
export async function claimAwards(
  on: Queryable,
  awards: readonly Omit<Award, 'status' | 'createdAt' | 'paidAt'>[],
  now: Date,
): Promise<ReadonlyMap<string, NewAwardStatus>> {
  if (awards.length === 0) return new Map();
  const rows = await on.query<{ attempt_id: string; status: NewAwardStatus }>(CLAIM, [
    awards.map((award) => award.id),
    awards.map((award) => award.attemptId),
    awards.map((award) => award.challengeId),
    awards.map((award) => award.accountId),
    awards.map((award) => award.amountCents),
    now,
  ]);
  return new Map(rows.map((row) => [row.attempt_id, row.status]));
}

/** Finds the award of an attempt; null if the attempt won none. */
export async function findAwardOfAttempt(on: Queryable, attemptId: string): Promise<OwedAward<Award> | null> {
  const [row] = await on.query<AwardWithTenantRow>(SELECT_BY_ATTEMPT, [attemptId]);
  return row === undefined ? null : toAwardWithTenant(row);
}

/** Loads the awards that these attempts won, in no particular order. */
export async function loadAwardsOfAttempts(on: Queryable, attemptIds: readonly string[]): Promise<readonly Award[]> {
  const rows = await on.query<AwardWithTenantRow>(SELECT_BY_ATTEMPTS, [attemptIds]);
  return rows.map((row) => toAwardWithTenant(row).award);
}

export async function findAward(on: Queryable, id: string): Promise<OwedAward<Award> | null> {
  const [row] = await on.query<AwardWithTenantRow>(SELECT_BY_ID, [id]);
  return row === undefined ? null : toAwardWithTenant(row);
}

/** Loads awards that are between two commits, oldest first. */
export async function loadUnfinishedAwards(
  on: Queryable,
  createdUntil: Date,
  limit: number,
): Promise<readonly OwedAward<Award>[]> {
  return (await on.query<AwardWithTenantRow>(SELECT_UNFINISHED, [createdUntil, limit])).map(toAwardWithTenant);
}

/**
 * Records payouts, and returns the awards that it changed, each once. An award that has another
 * status by now is left unchanged.
 */
export async function recordPayouts(on: Queryable, payouts: readonly PayoutOf[]): Promise<readonly ChangedAward[]> {
  const rows = await on.query<ChangedAwardRow>(RECORD_PAYOUTS, [
    payouts.map((payout) => payout.awardId),
    payouts.map((payout) => payout.asked),
    payouts.map((payout) => payout.status),
    payouts.map((payout) => payout.paidAt),
  ]);
  return rows.map((row) => ({
    ...toAwardWithTenant(row),
    previousStatus: row.asked,
    playerRef: row.player_ref,
    outcome: { score: row.score, metThreshold: row.met_threshold, recordedAt: row.recorded_at },
  }));
}

/**
 * Records payouts like `recordPayouts`, together with the event of each award, in one statement
 * that is its own transaction. Returns the ids of the awards that it changed.
 */
export async function recordWithEvents(
  database: Database,
  payouts: readonly (PayoutOf & { readonly event: OutboxRow })[],
): Promise<ReadonlySet<string>> {
  const rows = await database.write<{ id: string }>(
    RECORD_WITH_EVENTS,
    [
      payouts.map((payout) => payout.awardId),
      payouts.map((payout) => payout.asked),
      payouts.map((payout) => payout.status),
      payouts.map((payout) => payout.paidAt),
      payouts.map(({ event }) => event.id),
      payouts.map(({ event }) => event.payload),
      payouts.map(({ event }) => event.environment),
    ],
    { durable: false },
  );
  return new Set(rows.map(({ id }) => id));
}

/** Changes the status of the award from `from` to `to`. False if the status was not `from`. */
export async function changeAwardStatus(
  on: Queryable,
  id: string,
  from: AwardStatus,
  to: AwardStatus,
): Promise<boolean> {
  return (await on.query(MOVE, [id, from, to])).length === 1;
}

function toAwardWithTenant(row: AwardWithTenantRow): OwedAward<Award> {
  return {
    award: {
      id: row.id,
      attemptId: row.attempt_id,
      challengeId: row.challenge_id,
      accountId: row.account_id,
      amountCents: cents(row.amount_cents),
      status: row.status,
      createdAt: row.created_at,
      paidAt: row.paid_at,
    },
    tenant: { programId: row.program_id, environment: row.environment },
  };
}
