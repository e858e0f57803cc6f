/**
 * Fills the webhook service's database with the delivery log of 30 days; each event was delivered
 * at the first send.
 */
import type pg from 'pg';
import { type Contests, idAtSql } from './contests.ts';
import { withoutIndexes } from './deferred-indexes.ts';
import { challengeAttemptsSql } from './fill-challenge.ts';
import { roundAttemptsSql } from './fill-tournament.ts';
import { derivedSql, digestSql, newIdSql } from './ids.ts';
import { instantSql, isoSql, type Shape, type Turn, turnsOfHistory } from './shape.ts';

/** Older deliveries are deleted, as are events that were consumed more than 7 days ago. */
const LOG_DAYS = 30;
const CONSUMED_DAYS = 7;
const DELIVERED_AFTER_MS = 50;

/** Returns SQL for the fields of an event, in the contract's order. */
function eventsSql(shape: Shape, contests: Contests, turn: Turn): string {
  const common = 'i, id, id_text, player_ref, score, recorded_at, settled_ms, program';
  return turn.kind === 'challenge'
    ? `select ${common}, '"' || challenge_id || '"' as challenge, 'null' as round, wins,
        coalesce('{"id":"' || award_id || '","amount":4.00,"payout_status":"paid"}', 'null') as award
      from (${challengeAttemptsSql(shape, contests, turn)}) as attempt`
    : `select ${common}, 'null' as challenge, '"' || round_id || '"' as round, false as wins, 'null' as award
      from (${roundAttemptsSql(shape, turn)}) as attempt`;
}

/** `$1` is the endpoint. */
const fillTurn = (shape: Shape, contests: Contests, turn: Turn) => `
  with event as materialized (
    select event.*, ${derivedSql('id_text', digestSql('id_text', 'event:attempt.settled'))} as event_id,
      ${newIdSql('settled_ms', `'delivery ' || i`)} as delivery_id, ${instantSql(`settled_ms + ${DELIVERED_AFTER_MS}`)} as consumed_at
    from (${eventsSql(shape, contests, turn)}) as event
    where recorded_at > now() - interval '${LOG_DAYS} days'
  ),
  consumed as (
    insert into consumed_events (id, consumed_at)
    select event_id, consumed_at from event where consumed_at > now() - interval '${CONSUMED_DAYS} days' order by i
  ),
  delivered as (
    insert into deliveries (id, endpoint_id, event_id, event_type, program_id, environment, body, status, attempts, created_at)
    select delivery_id, $1::uuid, event_id, 'attempt.settled', ${idAtSql(contests.programIds, 'program')}, 'live',
      convert_to('{"event":"attempt.settled","timestamp":"' || ${isoSql('recorded_at')} || '","data":{"attempt_id":"' || id_text
        || '","challenge_id":' || challenge || ',"tournament_round_id":' || round || ',"player_ref":"' || player_ref || '","score":'
        || score || ',"met_threshold":' || wins::text || ',"award":' || award || ',"recorded_at":"' || ${isoSql('recorded_at')}
        || '"}}', 'UTF8'),
      'delivered', 1, consumed_at
    from event order by i
  )
  insert into delivery_attempts (delivery_id, number, started_at, duration_ms, dns_ms, connect_ms, wait_ms, read_ms, http_status,
    response_excerpt)
  select delivery_id, 1, consumed_at, 24.5, 0.5, 12, 11.5, 0.5, 200, '' from event order by i`;

const BACKDATE = `update endpoints set created_at = $2 where id = $1`;

export async function fillWebhook(client: pg.Client, shape: Shape, contests: Contests): Promise<void> {
  const { endpointId } = contests;
  await client.query(BACKDATE, [endpointId, new Date(shape.startMs)]);
  await withoutIndexes(client, ['consumed_events', 'deliveries', 'delivery_attempts'], async () => {
    // A turn takes less than four days.
    for (const turn of turnsOfHistory().slice(-Math.ceil(LOG_DAYS / 3))) {
      await client.query(fillTurn(shape, contests, turn), [endpointId]);
    }
  });
}
