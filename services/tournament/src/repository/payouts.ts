/**
 * The payouts of a round's ranks. settlement.ts writes the rows with the standings; the functions
 * here pay them.
 */

import type { AwardTable } from '@laurel/attempts';
import type { OwedAward, PayableAward, PayoutOf } from '@laurel/attempts/domain';
import type { Queryable } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { AwardStatus, Environment, RoundPayout, Tenant } from '../domain/tournament.ts';

/** A payout in the form that libs/attempts pays: an award that names its round. */
export type RoundAward = PayableAward & RoundPayout;

/** What the event needs when a purse that an operator released is paid. */
export type ReleasedPurse = Pick<RoundPayout, 'awardId' | 'roundId' | 'amountCents'> & {
  /** The ref that played the best run, which the board shows. */
  readonly playerRef: string;
  readonly paidAt: Date;
  readonly tenant: Tenant;
};

type PayoutRow = {
  award_id: string;
  round_id: string;
  entry_id: string;
  account_id: string;
  final_rank: number;
  amount_cents: bigint;
  status: AwardStatus;
  created_at: Date;
  paid_at: Date | null;
  program_id: string;
  environment: Environment;
};

type ReleasedRow = {
  award_id: string;
  round_id: string;
  amount_cents: bigint;
  paid_at: Date;
  best_player_ref: string;
  program_id: string;
  environment: Environment;
};

const WITH_TENANT = `select p.*, r.program_id, r.environment from round_payouts p join rounds r on r.id = p.round_id`;

const SELECT_BY_ID = { text: `${WITH_TENANT} where p.award_id = $1` };

const SELECT_OF_ENTRANT = {
  name: 'round_payouts_of_entrant',
  text: 'select p.award_id from all_attempts a join round_payouts p on p.entry_id = a.entry_id where a.id = $1',
};

const SELECT_UNDECIDED = {
  text: `${WITH_TENANT} where p.round_id = $1 and p.status = 'paying' order by p.final_rank limit $2`,
};

const SELECT_UNFINISHED = {
  text: `
${WITH_TENANT} where p.status in ('paying', 'releasing', 'denying') and p.created_at <= $1 order by p.created_at limit $2`,
};

// The wallet decided on an award in one status. If the award has moved to another status since, the
// decision must not change it. An award that was held and is paid now was released. Its player is
// read from the board, which no longer changes.
const RECORD = {
  name: 'round_payouts_record',
  text: `
with found as materialized (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) as f (id, asked, status, paid_at) order by f.id
), locked as materialized (
  select found.*
  from found cross join lateral (select from round_payouts p where p.award_id = found.id for no key update) p
), moved as (
  update round_payouts p set status = l.status, paid_at = l.paid_at
  from locked l
  where p.award_id = l.id and p.award_id = any($1::uuid[]) and p.status = l.asked
  returning p.*, l.asked
)
select m.award_id, m.round_id, m.amount_cents, m.paid_at, e.best_player_ref, r.program_id, r.environment
from moved m join entries e on e.id = m.entry_id join rounds r on r.id = m.round_id
where m.asked <> 'paying' and m.status = 'paid'`,
};

const MOVE = { text: 'update round_payouts set status = $3 where award_id = $1 and status = $2 returning award_id' };

/**
 * The payouts, for the payer and the review of libs/attempts. Their results become the events of
 * released purses.
 */
export const roundAwards: Omit<AwardTable, 'recordPayouts'> & {
  recordPayouts(on: Queryable, payouts: readonly PayoutOf[]): Promise<readonly ReleasedPurse[]>;
} = {
  async loadUnfinishedAwards(database, createdUntil, limit) {
    return (await database.query<PayoutRow>(SELECT_UNFINISHED, [createdUntil, limit])).map(toOwed);
  },
  async recordPayouts(on, payouts) {
    const values = [
      payouts.map((payout) => payout.awardId),
      payouts.map((payout) => payout.asked),
      payouts.map((payout) => payout.status),
      payouts.map((payout) => payout.paidAt),
    ];
    return (await on.query<ReleasedRow>(RECORD, values)).map(toReleased);
  },
  async findAward(database, id) {
    const [row] = await database.query<PayoutRow>(SELECT_BY_ID, [id]);
    return row === undefined ? null : toOwed(row);
  },
  async changeAwardStatus(on, id, from, to) {
    return (await on.query(MOVE, [id, from, to])).length === 1;
  },
};

/** Payouts of the round that the wallet has not decided yet, best rank first. */
export async function loadUndecidedPayouts(
  on: Queryable,
  roundId: string,
  limit: number,
): Promise<readonly OwedAward<RoundAward>[]> {
  return (await on.query<PayoutRow>(SELECT_UNDECIDED, [roundId, limit])).map(toOwed);
}

/** The award for the rank that the attempt's entry reached; null if there is none. */
export async function findAwardOfEntrant(on: Queryable, attemptId: string): Promise<string | null> {
  const [row] = await on.query<{ award_id: string }>(SELECT_OF_ENTRANT, [attemptId]);
  return row?.award_id ?? null;
}

function toReleased(row: ReleasedRow): ReleasedPurse {
  return {
    awardId: row.award_id,
    roundId: row.round_id,
    amountCents: cents(row.amount_cents),
    playerRef: row.best_player_ref,
    paidAt: row.paid_at,
    tenant: { programId: row.program_id, environment: row.environment },
  };
}

function toOwed(row: PayoutRow): OwedAward<RoundAward> {
  return {
    award: {
      id: row.award_id,
      awardId: row.award_id,
      roundId: row.round_id,
      entryId: row.entry_id,
      accountId: row.account_id,
      finalRank: row.final_rank,
      amountCents: cents(row.amount_cents),
      status: row.status,
      createdAt: row.created_at,
      paidAt: row.paid_at,
    },
    tenant: { programId: row.program_id, environment: row.environment },
  };
}
