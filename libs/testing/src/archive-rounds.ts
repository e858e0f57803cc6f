/**
 * Archives rounds of the tournament service by plain SQL, with the same result as the functions of
 * its database. Each round is the only batch of a month of its own, which has the instant at which
 * the round closed and no other. The rounds must be over, with no refund or payout under way.
 */

const BEGIN_MONTH = `
insert into archived_months (month, begins_at, ends_at, manifest_sha256, totals, begun_at)
select to_char('2001-01-01'::date + count(m.*)::int * interval '1 month', 'YYYY-MM'), r.closes_at, r.closes_at + interval '1 ms',
  decode(repeat('00', 32), 'hex'), '[]', now()
from rounds r left join archived_months m on true where r.id = $1 group by r.closes_at`;

const MOVE = `
with ended as (
  delete from attempts where round_id = $1 returning *
), result as (
  delete from outcomes where attempt_id = any(array(select id from attempts where round_id = $1)) returning *
), kept as (
  insert into archived_attempts
    (id, round_id, entry_id, account_id, player_ref, status, fee_cents, created_at, fee_generation, closed_reason,
      score, tiebreak, recorded_at, receipt_id)
  select a.id, a.round_id, a.entry_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.created_at, a.fee_generation,
    a.closed_reason, o.score, o.tiebreak, o.recorded_at, o.receipt_id
  from ended a left join result o on o.attempt_id = a.id
)
insert into archived_batches
  (month, number, least_round_id, least_account_id, end_round_id, end_account_id, attempts, digest, deleted_at)
select (select max(month) from archived_months), 1, $1, '00000000-0000-0000-0000-000000000000', $1,
  'ffffffff-ffff-ffff-ffff-ffffffffffff', count(*), decode(repeat('00', 32), 'hex'), now()
from ended`;

/**
 * Archives the rounds, each in one commit. `run` sends a statement as the owner of the database.
 */
export async function archiveRounds(
  run: (text: string, values: readonly unknown[]) => Promise<unknown>,
  roundIds: readonly string[],
): Promise<void> {
  for (const id of roundIds) {
    await run(BEGIN_MONTH, [id]);
    await run(MOVE, [id]);
  }
}
