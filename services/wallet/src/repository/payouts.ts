/** The decisions on payouts: of challenge awards, and of ranks of round purses. */

import {
  type BoundStatement,
  type Database,
  MAX_COUNTED_ITEMS,
  type Statement,
  type Transaction,
} from '@laurel/postgres';
import { awardTransferId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import type { DecidedPayout, Payout, PayoutFacts, PayoutRequest, Win } from '../domain/payout-decision.ts';
import { type HoldReason, type RecentPayouts, VELOCITY_WINDOW_MS } from '../domain/payout-hold.ts';
import { contestServiceDigitsOf, contestServiceDigitsSql, type OwnedPage } from './owned-page.ts';

export type PayoutRow = {
  award_id: string;
  attempt_id: string | null;
  round_id: string | null;
  program_id: string;
  environment: Environment;
  account_id: string;
  amount_cents: bigint;
  status: Payout['status'];
  reason: HoldReason | null;
  created_at: Date;
  paid_at: Date | null;
  denied_at: Date | null;
};

export const PAYOUT_COLUMNS =
  'award_id, attempt_id, round_id, program_id, environment, account_id, amount_cents, status, reason, created_at, paid_at, denied_at';

export function payoutOf(row: PayoutRow): Payout {
  return {
    ...winOf(row),
    awardId: row.award_id,
    programId: row.program_id,
    environment: row.environment,
    accountId: row.account_id,
    amountCents: cents(row.amount_cents),
    status: row.status,
    reason: row.reason,
    createdAt: row.created_at,
    paidAt: row.paid_at,
    ...(row.denied_at === null ? {} : { deniedAt: row.denied_at }),
  };
}

function winOf({ award_id, attempt_id, round_id }: PayoutRow): Win {
  if (attempt_id !== null) return { kind: 'award', attemptId: attempt_id };
  if (round_id !== null) return { kind: 'purse', roundId: round_id };
  throw new Error(`the payout ${award_id} names neither an attempt nor a round`);
}

/**
 * A subquery of an account's payouts that count towards payout velocity. The arguments are SQL
 * expressions.
 */
export function recentPayoutsSql(of: { accountId: string; environment: string; since: string }): string {
  return `select count(*) as paid_count, coalesce(sum(payouts.amount_cents), 0)::bigint as paid_cents from payouts
        where payouts.account_id = ${of.accountId} and payouts.environment = ${of.environment}
          and payouts.status = 'paid' and payouts.paid_at > ${of.since}`;
}

/** Only payouts paid after this instant count. */
export function velocityWindowStart(now: Date): Date {
  return new Date(now.getTime() - VELOCITY_WINDOW_MS);
}

const loadRecentPayoutsStatement: Statement = {
  name: 'load_recent_payouts',
  text: recentPayoutsSql({ accountId: '$1::uuid', environment: '$2::text', since: '$3::timestamptz' }),
};

/** The account's payouts in one environment that count towards payout velocity. */
export async function loadRecentPayouts(
  database: Database,
  { accountId, environment }: { readonly accountId: string; readonly environment: Environment },
  since: Date,
): Promise<RecentPayouts> {
  const values = [accountId, environment, since];
  const [row] = await database.query<{ paid_count: bigint; paid_cents: bigint }>(loadRecentPayoutsStatement, values);
  if (row === undefined) throw new Error('a sum has no row');
  return { count: Number(row.paid_count), amountCents: cents(row.paid_cents) };
}

const loadPayoutFactsStatement: Statement = {
  name: 'load_payout_facts',
  text: `
    select payout.*, person.enforcement_flag, person.under_investigation, recent.paid_count, recent.paid_cents
    from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality
      as award (award_id, account_id, environment, position)
    cross join lateral (
      select * from accounts where accounts.id = award.account_id limit 1
    ) as person
    cross join lateral (
      ${recentPayoutsSql({ accountId: 'award.account_id', environment: 'award.environment', since: '$4::timestamptz' })}
    ) as recent
    left join lateral (
      select ${PAYOUT_COLUMNS} from payouts where payouts.award_id = award.award_id limit 1
    ) as payout on true
    order by award.position`,
};

type PayoutFactsRow = {
  enforcement_flag: boolean;
  under_investigation: boolean;
  paid_count: bigint;
  paid_cents: bigint;
} & (PayoutRow | { award_id: null });

/** The stored facts about each payout, in order; `lockPrograms` reads those about its program. */
export async function loadPayoutFacts(
  tx: Transaction,
  payments: readonly PayoutRequest[],
  now: Date,
): Promise<readonly Omit<PayoutFacts, 'program'>[]> {
  const rows = await tx.query<PayoutFactsRow>(loadPayoutFactsStatement, [
    payments.map((payment) => payment.awardId),
    payments.map((payment) => payment.accountId),
    payments.map((payment) => payment.environment),
    velocityWindowStart(now),
  ]);
  if (rows.length !== payments.length) throw new Error('a payout is owed to an account that does not exist');
  return rows.map((row) => ({
    stored: row.award_id === null ? null : payoutOf(row),
    enforcementFlag: row.enforcement_flag,
    underInvestigation: row.under_investigation,
    recent: { count: Number(row.paid_count), amountCents: cents(row.paid_cents) },
  }));
}

const insertPayoutsStatement: Statement = {
  name: 'insert_payouts',
  // The row of a paid payout stores its program's count up to and including that payout. The
  // program's row already counts the whole batch, so the amounts of the payouts that follow are
  // subtracted.
  text: `
    insert into payouts (
      award_id, attempt_id, round_id, program_id, environment, account_id, amount_cents, status, reason, transfer_id,
      created_at, paid_at, program_limit_cents, program_paid_cents
    )
    select payout.*, case when payout.paid_at is not null then program.paid_cents - (coalesce(
      sum(payout.amount_cents) filter (where payout.paid_at is not null) over (
        partition by payout.program_id, payout.environment order by payout.award_id
        rows between 1 following and unbounded following
      ), 0))::bigint end
    from unnest(
      $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::bigint[], $8::text[], $9::text[],
      $10::uuid[], $11::timestamptz[], $12::timestamptz[], $13::bigint[]
    ) as payout (
      award_id, attempt_id, round_id, program_id, environment, account_id, amount_cents, status, reason, transfer_id,
      created_at, paid_at, program_limit_cents
    )
    left join program_limits as program
      on program.program_id = payout.program_id and program.environment = payout.environment
    order by payout.award_id`,
};

/** Writes new payouts, after countProgramPayouts has counted the paid ones. */
export async function insertPayouts(tx: Pick<Transaction, 'query'>, payouts: readonly DecidedPayout[]): Promise<void> {
  if (payouts.length === 0) return;
  await tx.query(insertPayoutsStatement, [
    payouts.map((payout) => payout.awardId),
    payouts.map((payout) => (payout.kind === 'award' ? payout.attemptId : null)),
    payouts.map((payout) => (payout.kind === 'purse' ? payout.roundId : null)),
    payouts.map((payout) => payout.programId),
    payouts.map((payout) => payout.environment),
    payouts.map((payout) => payout.accountId),
    payouts.map((payout) => payout.amountCents),
    payouts.map((payout) => payout.status),
    payouts.map((payout) => payout.reason),
    payouts.map((payout) => (payout.status === 'paid' ? awardTransferId(payout.awardId) : null)),
    payouts.map((payout) => payout.createdAt),
    payouts.map((payout) => payout.paidAt),
    payouts.map((payout) => payout.programLimitCents),
  ]);
}

const loadPayoutStatement: Statement = {
  name: 'load_payout',
  text: `select ${PAYOUT_COLUMNS} from payouts where award_id = $1`,
};

export async function loadPayout(database: Database, awardId: string): Promise<Payout | null> {
  const [row] = await database.query<PayoutRow>(loadPayoutStatement, [awardId]);
  return row === undefined ? null : payoutOf(row);
}

const lockPayoutStatement: Statement = {
  name: 'lock_payout',
  text: `select ${PAYOUT_COLUMNS} from payouts where award_id = $1 for no key update`,
};

export async function lockPayout(tx: Transaction, awardId: string): Promise<Payout | null> {
  const [row] = await tx.query<PayoutRow>(lockPayoutStatement, [awardId]);
  return row === undefined ? null : payoutOf(row);
}

const markPaidStatement: Statement = {
  name: 'mark_payout_paid',
  text: `
    update payouts set status = 'paid', transfer_id = $2, paid_at = $3, program_paid_cents = (
      select program.paid_cents from program_limits as program
      where program.program_id = payouts.program_id and program.environment = payouts.environment
    )
    where award_id = $1
    returning ${PAYOUT_COLUMNS}`,
};

/** Call it after countProgramPayouts has counted the payout. */
export async function markPaid(tx: Transaction, awardId: string, paidAt: Date): Promise<Payout> {
  return only(await tx.query<PayoutRow>(markPaidStatement, [awardId, awardTransferId(awardId), paidAt]));
}

const markDeniedStatement: Statement = {
  name: 'mark_payout_denied',
  text: `
    update payouts set status = 'denied', denied_at = $2
    where award_id = $1
    returning ${PAYOUT_COLUMNS}`,
};

export async function markDenied(tx: Transaction, awardId: string, deniedAt: Date): Promise<Payout> {
  return only(await tx.query<PayoutRow>(markDeniedStatement, [awardId, deniedAt]));
}

function only(rows: readonly PayoutRow[]): Payout {
  const [row] = rows;
  if (row === undefined) throw new Error('a locked payout no longer exists');
  return payoutOf(row);
}

const listAwardPayoutsStatement: Statement = {
  name: 'list_award_payouts',
  // The index alone yields the page: skipping another service's payouts reads none of their rows.
  text: `
    select ${PAYOUT_COLUMNS}
    from (
      select award_id as id from payouts
      where award_id > $1::uuid and ($2::text is null or ${contestServiceDigitsSql('award_id')} = $2)
      order by award_id
      limit $3
    ) as page
    join payouts on payouts.award_id = page.id
    order by payouts.award_id`,
};

/** Returns one contest service's payouts after an award id, in award id order. */
export async function listAwardPayouts(
  database: Database,
  { after, owner, limit }: OwnedPage,
): Promise<readonly Payout[]> {
  const rows = await database.query<PayoutRow>(listAwardPayoutsStatement, [
    after,
    contestServiceDigitsOf(owner),
    limit,
  ]);
  return rows.map(payoutOf);
}

const LIVE_HELD = `from payouts where status = 'held' and environment = 'live'`;

const HELD = {
  name: 'stage_payout_held',
  text: `
select 'payout_held' as stage, 'live' as environment, (select count(*)::int from (select ${LIVE_HELD} limit ${MAX_COUNTED_ITEMS}) held) as items,
  extract(epoch from $1::timestamptz - (
    select created_at ${LIVE_HELD} order by created_at, award_id limit 1
  ))::float8 as oldest_seconds`,
};

/**
 * `payout_held`: payouts that wait for an operator, with their age since the hold. Live only: no
 * operator reviews the held payouts that developers make in a sandbox. For the stage sampler
 * (libs/postgres).
 */
export const HELD_PAYOUTS: BoundStatement = { statement: HELD };
