/** The challenge service's database: settled attempts, with outcomes, receipts and awards. */
import type pg from 'pg';
import { type Contests, idAtSql } from './contests.ts';
import { withoutIndexes } from './deferred-indexes.ts';
import { accountIdSql, attemptIdSql, derivedSql, digestSql, newIdSql, playerRefSql } from './ids.ts';
import {
  challengePlaySql,
  FEE_CENTS,
  instantSql,
  isoSql,
  PRIZE_CENTS,
  type Shape,
  settledMsSql,
  THRESHOLD,
  type Turn,
  turnSql,
  turnsOfHistory,
} from './shape.ts';

/** Returns SQL that computes the same attempts in every database, for one turn of challenges. */
export function challengeAttemptsSql(shape: Shape, contests: Contests, turn: Turn): string {
  const { challenge, wins } = challengePlaySql(turn);
  return `
    select numbered.*, id::text as id_text, ${instantSql('ms')} as created_at, ${instantSql('settled_ms')} as recorded_at,
      case when wins then ${derivedSql('id::text', digestSql('id::text', 'award'), '1')} end as award_id
    from (
      select i, p, q, program, ms, ms + ${settledMsSql('i')} as settled_ms, ${wins} as wins,
        ${idAtSql(contests.challengeIds, challenge)} as challenge_id, ${attemptIdSql('challenge', 'ms', 'i')} as id,
        ${accountIdSql(shape, 'p')} as account_id, ${playerRefSql('p')} as player_ref,
        case when ${wins} then ${THRESHOLD} + i % 50 else ${THRESHOLD} - 1 - i % 50 end as score
      from (${turnSql(shape, turn)}) as turn
      offset 0
    ) as numbered`;
}

/** `$1` is the signing key. The signatures have the right length, but sign nothing. */
const fillTurn = (shape: Shape, contests: Contests, turn: Turn) => `
  with play as materialized (
    select play.*, ${newIdSql('settled_ms', `'receipt ' || i`)} as receipt_id
    from (${challengeAttemptsSql(shape, contests, turn)}) as play
  ),
  attempted as (
    insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
    select id, challenge_id, account_id, player_ref, 'settled', ${FEE_CENTS}, ${PRIZE_CENTS}, ${THRESHOLD}, '{}', created_at
    from play order by i
  ),
  settled as (
    insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
    select id, receipt_id, score, wins, recorded_at, receipt, sha512(convert_to(receipt, 'UTF8')), $1::int
    from (
      select play.*, '{"attempt_created_at":"' || ${isoSql('created_at')} || '","attempt_id":"' || id_text || '","award":'
        || coalesce('{"amount":"4.00","id":"' || award_id || '"}', 'null') || ',"challenge_id":"' || challenge_id
        || '","environment":"live","evidence":{"run":"' || id_text || '"},"fee_charged":"1.00","met_threshold":' || wins::text
        || ',"player_ref":"' || player_ref || '","program_id":"' || ${idAtSql(contests.programIds, 'program')} || '","receipt_id":"' || receipt_id
        || '","recorded_at":"' || ${isoSql('recorded_at')} || '","score":' || score || ',"threshold_applied":${THRESHOLD}'
        || ',"threshold_direction":"higher_is_better","version":1}' as receipt
      from play order by i
    ) as signed
  )
  insert into awards (id, attempt_id, challenge_id, account_id, amount_cents, status, created_at, paid_at)
  select award_id, id, challenge_id, account_id, ${PRIZE_CENTS}, 'paid', recorded_at, recorded_at from play where wins order by i`;

/** Makes the challenges older than the first attempt. */
const BACKDATE = `update challenges set created_at = $1 where id = any($2::uuid[])`;
const COUNT_OUTCOMES = `
  update drift_monitors as monitor set started_at = $1, attempts = counted.attempts, passes = counted.passes
  from (
    select a.challenge_id, count(*) as attempts, count(*) filter (where o.met_threshold) as passes
    from attempts a join outcomes o on o.attempt_id = a.id group by a.challenge_id
  ) as counted
  where counted.challenge_id = monitor.challenge_id`;

/** The uses of idempotency keys, which are kept for a day: one by each creation, one by outcome. */
export const INSERT_KEY_USES = `
  insert into key_uses (key_id, operation_id, fingerprint, used_at)
  select md5('creation ' || id)::uuid, id, sha256(uuid_send(id)), created_at from attempts where created_at > now() - interval '1 day'
  union all
  select md5('outcome ' || o.receipt_id)::uuid, o.receipt_id, sha256(uuid_send(o.receipt_id)), o.recorded_at
  from attempts a join outcomes o on o.attempt_id = a.id where a.created_at > now() - interval '1 day'`;

export const CURRENT_SIGNING_KEY = 'select id from signing_keys where valid_until is null';

export async function fillChallenge(client: pg.Client, shape: Shape, contests: Contests): Promise<void> {
  const { rows } = await client.query<{ id: number }>(CURRENT_SIGNING_KEY);
  const values = [rows[0]?.id];
  const openedAt = new Date(shape.startMs - 3_600_000);
  await client.query(BACKDATE, [openedAt, contests.challengeIds]);
  await withoutIndexes(client, ['attempts', 'outcomes', 'awards'], async () => {
    for (const turn of turnsOfHistory())
      if (turn.kind === 'challenge') await client.query(fillTurn(shape, contests, turn), values);
  });
  await client.query(COUNT_OUTCOMES, [openedAt]);
  await client.query(INSERT_KEY_USES);
}
