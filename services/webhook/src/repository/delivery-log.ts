/**
 * The delivery log, as developers read it: an endpoint's deliveries with every send.
 * `deliveries.ts` and `sends.ts` write them.
 */

import type { Queryable } from '@laurel/postgres';
import type { Position } from '@laurel/values/cursor';
import type { Environment, Tenant } from '@laurel/values/tenant';
import type { DeliveryStatus, SendPhases } from '../domain/delivery.ts';
import { type TailPosition, tailAfter, tailFrom } from '../domain/log-tail.ts';
import { DELIVERY_OF_TENANT } from './deliveries.ts';
import { isStillOfDeveloperSql } from './programs.ts';

export type LoggedSend = {
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number | null;
  readonly phases: SendPhases;
  readonly httpStatus: number | null;
  readonly errorKind: string | null;
  readonly error: string | null;
  readonly responseExcerpt: string | null;
};

export type LoggedDelivery = {
  readonly id: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date | null;
  /** The sends that ended or were interrupted, ordered by number. */
  readonly sends: readonly LoggedSend[];
  /** The send that is in flight: its end is not recorded yet. */
  readonly sending: Pick<LoggedSend, 'number' | 'startedAt'> | null;
  /** When the delivery was closed without a further send (domain/delivery.ts); otherwise null. */
  readonly closedAt: Date | null;
};

export type LogFilter = { readonly status: DeliveryStatus | null; readonly eventType: string | null };

/** A delivery of the log, with the fields that only a request for this one delivery returns. */
export type DeliveryDetail = {
  readonly delivery: LoggedDelivery;
  readonly stored: StoredDelivery;
  /** The delivery that this one repeats; null if it is not a resend. */
  readonly resendOf: string | null;
};

/** A delivery that a developer asks to send again. */
export type StoredDelivery = {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Null for a test delivery. */
  readonly tenant: Tenant | null;
  readonly body: Buffer;
};

/** A delivery with one of its sends, or with no send. */
type LogRow = {
  id: string;
  event_type: string;
  status: DeliveryStatus;
  created_at: Date;
  next_attempt_at: Date | null;
  attempts: number;
  sending_since: Date | null;
  closed_at: Date | null;
  number: number | null;
  started_at: Date;
  duration_ms: number | null;
  dns_ms: number | null;
  connect_ms: number | null;
  wait_ms: number | null;
  read_ms: number | null;
  http_status: number | null;
  error_kind: string | null;
  error: string | null;
  response_excerpt: string | null;
};

type StoredRow = {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  program_id: string | null;
  environment: Environment | null;
  body: Buffer;
};

// A delivery `d` with one of its sends `a`.
const LOG_COLUMNS = `d.id, d.event_type, d.status, d.created_at, d.next_attempt_at, d.attempts, d.sending_since, d.closed_at,
  a.number, a.started_at, a.duration_ms, a.dns_ms, a.connect_ms, a.wait_ms, a.read_ms, a.http_status, a.error_kind, a.error,
  a.response_excerpt`;

// No row means that the developer has no such endpoint. A row without an id means that the page is
// empty.
//
// One statement reads deliveries and their sends. With two, a send whose end is recorded between
// them would be listed twice, as ended and as in flight.
const SELECT_PAGE = {
  name: 'delivery_log_page',
  text: `
select ${LOG_COLUMNS}, pg_current_snapshot()::text as snapshot
from endpoints e left join lateral (
  select * from deliveries
  where endpoint_id = e.id
    and ($3::text is null or status = $3)
    and ($4::text is null or event_type = $4)
    and (created_at, id) < ($5::timestamptz, $6::uuid)
  order by created_at desc, id desc limit $7
) d on true left join delivery_attempts a on a.delivery_id = d.id
where e.id = $1 and e.developer_id = $2 and e.deleted_at is null
order by d.created_at desc, d.id desc, a.number`,
};

// The deliveries whose transaction the snapshot `since` does not see, oldest first. If there is a
// snapshot `until`, only deliveries that it sees are listed.
const SELECT_TAIL = {
  name: 'delivery_log_tail',
  text: `
select ${LOG_COLUMNS}, d.inserted_by::text as inserted_by, pg_current_snapshot()::text as snapshot
from endpoints e left join lateral (
  select * from deliveries
  where endpoint_id = e.id
    and ($3::text is null or status = $3)
    and ($4::text is null or event_type = $4)
    and (inserted_by, id) > ($5::text::xid8, $6::uuid)
    and not pg_visible_in_snapshot(inserted_by, $7::text::pg_snapshot)
    and ($8::text is null or pg_visible_in_snapshot(inserted_by, $8::text::pg_snapshot))
  order by inserted_by, id limit $9
) d on true left join delivery_attempts a on a.delivery_id = d.id
where e.id = $1 and e.developer_id = $2 and e.deleted_at is null
order by d.inserted_by, d.id, a.number`,
};

const SELECT_DETAIL = {
  text: `
select ${LOG_COLUMNS}, d.endpoint_id, d.event_id, d.program_id, d.environment, d.body, d.resend_of
from deliveries d join endpoints e on e.id = d.endpoint_id left join delivery_attempts a on a.delivery_id = d.id
where d.id = $1 and e.developer_id = $2 and e.deleted_at is null and ${isStillOfDeveloperSql('d', 'e')}
order by a.number`,
};

const SELECT_STORED = {
  text: `
select d.id, d.endpoint_id, d.event_id, d.event_type, d.program_id, d.environment, d.body
from deliveries d join endpoints e on e.id = d.endpoint_id
where d.id = $1 and e.developer_id = $2 and e.deleted_at is null and ${isStillOfDeveloperSql('d', 'e')}`,
};

const SELECT_ENDPOINT_OF_TENANT = { text: `select d.endpoint_id ${DELIVERY_OF_TENANT}` };

type Owner = { readonly developerId: string; readonly endpointId: string };

/** A row without an id means that the page is empty. */
type PageRow = (LogRow | { id: null }) & { snapshot: string };

/**
 * The deliveries below the cursor, newest first, and the tail position after all that exist now;
 * null if the developer has no such endpoint.
 */
export async function loadLogPage(
  on: Queryable,
  owner: Owner,
  { status, eventType }: LogFilter,
  { after, limit }: { readonly after: Position; readonly limit: number },
): Promise<{ readonly deliveries: readonly LoggedDelivery[]; readonly head: TailPosition } | null> {
  const values = [owner.endpointId, owner.developerId, status, eventType, after.at, after.id, limit];
  const rows = await on.query<PageRow>(SELECT_PAGE, values);
  const [first] = rows;
  if (first === undefined) return null;
  return { deliveries: gatherSends(rows.filter((row) => row.id !== null)), head: tailFrom(first.snapshot) };
}

/**
 * The deliveries after the position, oldest first, and the position after them; null if the
 * developer has no such endpoint.
 */
export async function loadLogTail(
  on: Queryable,
  owner: Owner,
  { status, eventType }: LogFilter,
  { position, limit }: { readonly position: TailPosition; readonly limit: number },
): Promise<{ readonly deliveries: readonly LoggedDelivery[]; readonly head: TailPosition } | null> {
  const { since, until, after } = position;
  const values = [
    owner.endpointId,
    owner.developerId,
    status,
    eventType,
    after.insertedBy,
    after.id,
    since,
    until,
    limit,
  ];
  const rows = await on.query<PageRow & { inserted_by: string }>(SELECT_TAIL, values);
  const [first] = rows;
  if (first === undefined) return null;
  const found = rows.filter((row) => row.id !== null);
  const deliveries = gatherSends(found);
  const last = found.at(-1);
  const isFull = deliveries.length === limit && last !== undefined;
  const reached = isFull ? { insertedBy: last.inserted_by, id: last.id } : null;
  return { deliveries, head: tailAfter(position, first.snapshot, reached) };
}

/**
 * A delivery to one of the developer's endpoints, with its body and its sends. Null for any other
 * delivery, and for an event of a program that now has another developer.
 */
export async function findDelivery(on: Queryable, developerId: string, id: string): Promise<DeliveryDetail | null> {
  const rows = await on.query<LogRow & StoredRow & { resend_of: string | null }>(SELECT_DETAIL, [id, developerId]);
  const [row] = rows;
  const [delivery] = gatherSends(rows);
  if (row === undefined || delivery === undefined) return null;
  return { delivery, stored: toStored(row), resendOf: row.resend_of };
}

/** A delivery to one of the developer's endpoints, without its sends. */
export async function findStoredDelivery(
  on: Queryable,
  developerId: string,
  id: string,
): Promise<StoredDelivery | null> {
  const [row] = await on.query<StoredRow>(SELECT_STORED, [id, developerId]);
  return row === undefined ? null : toStored(row);
}

/** The endpoint of the delivery; null if the tenant has no such delivery. */
export async function findEndpointOfDelivery(
  on: Queryable,
  { programId, environment }: Tenant,
  id: string,
): Promise<string | null> {
  const [row] = await on.query<{ endpoint_id: string }>(SELECT_ENDPOINT_OF_TENANT, [id, programId, environment]);
  return row?.endpoint_id ?? null;
}

/** The deliveries of these rows. The rows of one delivery follow each other. */
function gatherSends(rows: readonly LogRow[]): readonly LoggedDelivery[] {
  const deliveries: (LoggedDelivery & { readonly sends: LoggedSend[] })[] = [];
  for (const row of rows) {
    if (deliveries.at(-1)?.id !== row.id) deliveries.push({ ...toDelivery(row), sends: [] });
    if (row.number !== null) deliveries.at(-1)?.sends.push(toSend(row, row.number));
  }
  return deliveries;
}

function toDelivery(row: LogRow): Omit<LoggedDelivery, 'sends'> {
  return {
    id: row.id,
    eventType: row.event_type,
    status: row.status,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    sending: row.sending_since === null ? null : { number: row.attempts, startedAt: row.sending_since },
    closedAt: row.closed_at,
  };
}

function toSend(row: LogRow, number: number): LoggedSend {
  return {
    number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    phases: { dnsMs: row.dns_ms, connectMs: row.connect_ms, waitMs: row.wait_ms, readMs: row.read_ms },
    httpStatus: row.http_status,
    errorKind: row.error_kind,
    error: row.error,
    responseExcerpt: row.response_excerpt,
  };
}

function toStored(row: StoredRow): StoredDelivery {
  const { program_id: programId, environment } = row;
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    tenant: programId === null || environment === null ? null : { programId, environment },
    body: row.body,
  };
}

// For each event, each endpoint of the developer is one look-up in the unique index, which has no
// resends. Exported because a test reads its query plan.
export const DELIVERIES_OF_EVENTS = `
select d.endpoint_id, d.id, d.event_type, d.status, d.created_at, d.next_attempt_at, d.attempts, d.sending_since, d.closed_at, a.*
from endpoints e
join deliveries d on d.endpoint_id = e.id and d.event_id = any($2::uuid[]) and d.resend_of is null
left join delivery_attempts a on a.delivery_id = d.id
where e.developer_id = $1 and e.deleted_at is null
order by d.created_at, d.id, a.number`;

const SELECT_OF_EVENTS = { name: 'deliveries_of_events', text: DELIVERIES_OF_EVENTS };

/** The first delivery of each event to each of the developer's endpoints, oldest first. */
export async function loadDeliveriesOfEvents(
  on: Queryable,
  developerId: string,
  eventIds: readonly string[],
): Promise<readonly { readonly endpointId: string; readonly delivery: LoggedDelivery }[]> {
  const rows = await on.query<LogRow & { endpoint_id: string }>(SELECT_OF_EVENTS, [developerId, eventIds]);
  const byDelivery = Map.groupBy(rows, ({ id }) => id);
  return [...byDelivery.values()].flatMap((sends) => {
    const [first] = sends;
    if (first === undefined) return [];
    const made = sends.flatMap((row) => (row.number === null ? [] : [toSend(row, row.number)]));
    return [{ endpointId: first.endpoint_id, delivery: { ...toDelivery(first), sends: made } }];
  });
}
