/**
 * The end of a round, in one commit: its status, its ranks and payouts or its refunds, and the
 * attempts that were still open. Later steps (payouts.ts, seals.ts, and the refunds of
 * libs/attempts) only execute this decision.
 *
 * These statements touch every entry of a round, and a hundred thousand take seconds: give the
 * transaction a `statementTimeoutMs`.
 */
import type { Queryable, Transaction } from '@laurel/postgres';
import { awardIdOfRank, payoutsOf } from '../domain/purse.ts';
import type { Round, Tournament } from '../domain/tournament.ts';
import { findRound, type RoundWithTally } from './rounds.ts';
import { lockTournament } from './tournaments.ts';

/** Why the open attempts of a round are ended and their fees returned. */
export type RoundEnd = 'round_closed' | 'round_cancelled';

/** A round that is locked against changes until the transaction ends. */
export type HeldRound = RoundWithTally & {
  readonly tournament: Tournament;
  /**
   * How many attempts may still turn out to be paid. While there are any, nothing may be decided:
   * resolve them and retry.
   */
  readonly pending: number;
};

// Keeps new entries out. Creations share this lock: the statement waits for creations under way,
// and a later creation sees the decision.
const LOCK_OUT_ENTRIES = { text: `select pg_advisory_xact_lock(hashtextextended('round:' || $1::uuid, 0))` };

// Locks the open attempts, which the end of the round changes, and counts the pending ones. A
// transaction that records an outcome holds its attempt while it waits for the board, so attempts
// are locked before the board.
const LOCK_ATTEMPTS = {
  text: `
select count(*) filter (where held.status = 'pending')::int as pending
from (
  select a.status from attempts a
  where a.round_id = $1 and a.status in ('pending', 'open')
  order by a.id for no key update
) held`,
};

const LOCK_BOARD = { text: 'select from round_tallies where round_id = $1 for no key update' };

// A purse of many ranks is a large value that is detoasted at each access, so only rows of paid
// ranks access it.
const RANK = {
  text: `
update entries e
set final_rank = ranked.rank,
  payout_cents = case when ranked.rank <= purse.ranks then purse.cents[ranked.rank] else 0 end
from (
  select p.id, row_number() over (order by p.sort_key)::int as rank from entries p where p.round_id = $1 and p.sort_key is not null
) ranked
cross join (select r.purse_cents as cents, cardinality(r.purse_cents) as ranks from rounds r where r.id = $1) purse
where e.id = ranked.id`,
};

const INSERT_PAYOUTS = {
  text: `
insert into round_payouts (award_id, round_id, entry_id, account_id, final_rank, amount_cents, status, created_at)
select ($2::uuid[])[won.final_rank], $1, won.id, won.account_id, won.final_rank, ($3::bigint[])[won.final_rank], 'paying', $4
from (
  select e.id, e.account_id, e.final_rank from entries e
  where e.round_id = $1 and e.sort_key is not null order by e.sort_key limit cardinality($2::uuid[])
) won`,
};

// The remaining entrants are the entries with a run (domain/entrants.ts). If the round settles,
// every other account stops being an entrant. A cancelled round keeps them, because it refunds all
// alike.
const END_OPEN = {
  text: `
with ended as (
  update attempts set status = 'expiring', closed_reason = $2 where round_id = $1 and status = 'open' returning id
), queued as (
  insert into refunds_due (attempt_id, since, reason, environment)
  select id, $3, $2, (select environment from rounds where id = $1) from ended
), gone as (
  update entries set bought_at = null
  where round_id = $1 and bought_at is not null and sort_key is null and $2::text = 'round_closed'
), counted as (
  update round_tallies set entrants = scored_players where round_id = $1
)
select count(*)::int as ended from ended`,
};

const REFUND_SETTLED = {
  text: `
insert into refunds_due (attempt_id, since, reason, environment)
select a.id, $2, 'round_cancelled', (select environment from rounds where id = $1)
from attempts a where a.round_id = $1 and a.status = 'settled'`,
};

// This statement scans the queue instead of the round. While refunds of the round are due, the scan
// is short: the queue is short, or its first row is such a refund.
const FINISH_CANCELLATION = {
  text: `
update rounds set status = 'cancelled'
where id = $1 and status = 'cancelling'
  and not exists (select from refunds_due d where (select a.round_id from attempts a where a.id = d.attempt_id) = $1)
returning id`,
};

/**
 * Locks everything that the end of a round reads or changes, in the global lock order; null for an
 * unknown round. It locks the tournament too, because the next round may open in the same commit.
 */
export async function lockRoundToEnd(tx: Transaction, roundId: string): Promise<HeldRound | null> {
  const values = [roundId];
  const [, held, , found] = await Promise.all([
    tx.query(LOCK_OUT_ENTRIES, values),
    tx.query<{ pending: number }>(LOCK_ATTEMPTS, values),
    tx.query(LOCK_BOARD, values),
    findRound(tx, roundId),
  ]);
  if (found === null) return null;
  const tournament = await lockTournament(tx, found.round.tournamentId);
  if (tournament === null) throw new Error(`round ${roundId} has no tournament`);
  return { ...found, tournament, pending: held[0]?.pending ?? 0 };
}

/**
 * Settles the round: every entry with a run gets its rank and its payout, and each paid rank gets
 * an award.
 */
export async function decideStandings(
  tx: Transaction,
  { round, tally }: Pick<HeldRound, 'round' | 'tally'>,
  now: Date,
): Promise<void> {
  const won = payoutsOf(round.terms.purse, tally.scoredPlayers);
  await Promise.all([
    tx.query(RANK, [round.id]),
    tx.query(INSERT_PAYOUTS, [
      round.id,
      won.map(({ rank }) => awardIdOfRank(round.id, rank)),
      won.map(({ amountCents }) => amountCents),
      now,
    ]),
  ]);
}

/**
 * Ends the open attempts of a round that is over, makes their fees due, and counts its final
 * entrants. Returns how many attempts ended.
 */
export async function endOpenAttempts(on: Queryable, roundId: string, reason: RoundEnd, now: Date): Promise<number> {
  const [row] = await on.query<{ ended: number }>(END_OPEN, [roundId, reason, now]);
  return row?.ended ?? 0;
}

/**
 * Makes the fees of scored attempts due as well, when the round is cancelled. The attempts stay
 * `settled`.
 */
export async function refundSettledAttempts(on: Queryable, roundId: string, now: Date): Promise<void> {
  await on.query(REFUND_SETTLED, [roundId, now]);
}

/**
 * Moves the round `cancelling -> cancelled` once no refund of the round is due. Returns whether it
 * moved.
 */
export async function finishCancellation(on: Queryable, roundId: Round['id']): Promise<boolean> {
  return (await on.query(FINISH_CANCELLATION, [roundId])).length === 1;
}
