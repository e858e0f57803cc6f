/**
 * Archives attempts of the challenge service by plain SQL, with the same result as the functions of
 * its database. Each attempt is a batch of its own, and all batches belong to one month. The
 * attempts must have ended, with no refund or award under way.
 */

const BEGIN_MONTH = `
insert into archived_months (month, least_id, end_id, manifest_sha256, totals, begun_at)
values ('2020-01', '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', decode(repeat('00', 32), 'hex'), '[]', now())
on conflict (month) do nothing`;

const MOVE = `
with ended as (
  delete from attempts where id = $1 returning *
), result as (
  delete from outcomes where attempt_id = $1 returning *
), kept as (
  insert into archived_attempts
    (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, created_at, fee_generation, closed_reason,
      score, met_threshold, recorded_at, receipt_id)
  select a.id, a.challenge_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.prize_cents, a.threshold, a.created_at,
    a.fee_generation, a.closed_reason, o.score, o.met_threshold, o.recorded_at, o.receipt_id
  from ended a left join result o on o.attempt_id = a.id
)
insert into archived_batches (month, number, least_id, end_id, attempts, digest, deleted_at)
select '2020-01', 1 + (select count(*) from archived_batches), $1, $2, 1, decode(repeat('00', 32), 'hex'), now()`;

/**
 * Archives the attempts, each in one commit. `run` sends a statement as the owner of the database.
 */
export async function archiveAttempts(
  run: (text: string, values: readonly unknown[]) => Promise<unknown>,
  attemptIds: readonly string[],
): Promise<void> {
  await run(BEGIN_MONTH, []);
  for (const id of attemptIds) await run(MOVE, [id, idAfter(id)]);
}

/** Returns the next higher id. */
function idAfter(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
