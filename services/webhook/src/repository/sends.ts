/**
 * The dispatcher's statements: find the queues that have something due, lease sends, record their
 * ends.
 */
import { keyVersionSql } from '@laurel/encryption';
import type { Database } from '@laurel/postgres';
import type { Environment } from '@laurel/values/tenant';
import type { Send, SendPhases } from '../domain/delivery.ts';
import { type DeliveryQueue, type QueueAllocation, queueKeyOf } from '../domain/delivery-queues.ts';
import { MAX_SENDS } from '../domain/retry-schedule.ts';
import { ERROR_SENTENCES, type SendResult } from '../domain/send-result.ts';
import { isStillOfDeveloperSql } from './programs.ts';

export type LeasedSends = {
  readonly sends: readonly Send[];
  /**
   * By the key of each queue from which rows were taken: the number of rows, and how many of them
   * are sends. The other rows were closed.
   */
  readonly byQueue: ReadonlyMap<string, { readonly rows: number; readonly sends: number }>;
};

/** The end of a send. */
export type SendRecord = {
  readonly send: Pick<Send, 'deliveryId' | 'number' | 'startedAt'>;
  readonly durationMs: number;
  readonly phases: SendPhases;
  readonly result: SendResult;
};

type LeasedRow = {
  id: string;
  endpoint_id: string;
  status: 'pending' | 'failed';
  attempts: number;
  event_type: string;
  body: Buffer;
  url: string;
  secret: Buffer;
  environment: Environment;
};

/** The SQL of the environment of the queue in which this row of deliveries waits. */
export function queueEnvironmentSql(delivery: string): string {
  return `(coalesce(${delivery}.environment, 'test'))`;
}

/** The SQL condition that this row of deliveries has no lease, or one that has expired at `$1`. */
export function isNotLeasedSql(delivery: string): string {
  return `(${delivery}.leased_until is null or ${delivery}.leased_until <= $1)`;
}

/**
 * The SQL of a recursive query of this name. The column endpoint_id holds each endpoint with a
 * pending delivery, and then null. The query skips from one endpoint to the next in the index, so
 * an endpoint's long queue costs nothing.
 */
export function endpointsWithPendingSql(name: string): string {
  return `${name} as (
  (select endpoint_id from deliveries where status = 'pending' order by endpoint_id limit 1)
  union all
  select (
    select d.endpoint_id from deliveries d
    where d.status = 'pending' and d.endpoint_id > w.endpoint_id
    order by d.endpoint_id limit 1
  )
  from ${name} w
  where w.endpoint_id is not null
)`;
}

const QUEUES_WITH_DUE = {
  name: 'sends_queues_with_due',
  text: `
with recursive ${endpointsWithPendingSql('waiting')}
select w.endpoint_id, queue.environment
from waiting w
cross join (values ('live'), ('test')) as queue (environment)
cross join lateral (
  select from deliveries d
  where d.endpoint_id = w.endpoint_id and ${queueEnvironmentSql('d')} = queue.environment
    and d.status = 'pending' and d.next_attempt_at <= $1 and ${isNotLeasedSql('d')}
  limit 1
) due
where w.endpoint_id is not null`,
};

// Only this statement reads the endpoint, so a new URL or secret applies to the next send.
//
// It closes the due deliveries of an endpoint that is off, those of a program that has another
// developer by now, and those that were interrupted for the third time. A send without a recorded
// end gets a row in the log. If the endpoint's secret is under a key that this process does not
// have, its deliveries wait and no send is counted.
const LEASE = {
  name: 'sends_lease',
  text: `
with due as materialized (
  select d.id, d.endpoint_id, d.attempts, d.sending_since, e.url, e.secret, ready.environment,
    case
      when not (e.is_active and ${isStillOfDeveloperSql('d', 'e')}) then 'closed'
      when d.attempts >= ${MAX_SENDS} then 'spent' else 'send'
    end as fate
  from unnest($2::uuid[], $3::int[], $7::text[]) as ready (endpoint_id, slots, environment)
  join endpoints e on e.id = ready.endpoint_id and (not e.is_active or ${keyVersionSql('e.secret')} = any($6::int[]))
  cross join lateral (
    select d.id, d.endpoint_id, d.program_id, d.attempts, d.sending_since
    from deliveries d
    where d.endpoint_id = ready.endpoint_id and ${queueEnvironmentSql('d')} = ready.environment
      and d.status = 'pending' and d.next_attempt_at <= $1 and ${isNotLeasedSql('d')}
    order by d.next_attempt_at
    limit ready.slots
    for no key update skip locked
  ) d
),
interrupted as (
  insert into delivery_attempts (delivery_id, number, started_at, error_kind, error)
  select id, attempts, sending_since, 'interrupted', $5 from due where sending_since is not null
  on conflict (delivery_id, number) do nothing
)
update deliveries d
set attempts = case due.fate when 'send' then d.attempts + 1 else d.attempts end,
  status = case due.fate when 'send' then 'pending' else 'failed' end,
  next_attempt_at = case due.fate when 'send' then d.next_attempt_at end,
  sending_since = case due.fate when 'send' then $1::timestamptz end,
  leased_until = case due.fate when 'send' then $4::timestamptz end,
  closed_at = case due.fate when 'closed' then $1::timestamptz end
from due
where d.id = due.id
returning d.id, d.endpoint_id, d.status, d.attempts, d.event_type, d.body, due.url, due.secret, due.environment`,
};

// A 2xx makes a delivery delivered whatever its state. Any other end changes a delivery only if it
// still waits for this very send.
//
// The log gets the send's row in any case; it replaces a row 'interrupted' of the same send. A
// delivery that was deleted because of its log's age gets no row. Rows are locked in id order
// (docs/lock-order.md).
const RECORD = {
  name: 'sends_record',
  text: `
with ended as (
  select e.*
  from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::float8[], $5::float8[], $6::float8[], $7::float8[], $8::float8[], $9::int[],
    $10::text[], $11::text[], $12::text[], $13::timestamptz[])
    as e (delivery_id, number, started_at, duration_ms, dns_ms, connect_ms, wait_ms, read_ms, http_status, error_kind, error,
      response_excerpt, next_send_at)
  order by delivery_id
),
held as materialized (
  select e.* from ended e cross join lateral (select from deliveries d where d.id = e.delivery_id for no key update) d
),
moved as (
  update deliveries d
  set status = case when e.error_kind is null then 'delivered' when e.next_send_at is null then 'failed' else 'pending' end,
    next_attempt_at = e.next_send_at,
    sending_since = null,
    leased_until = null,
    closed_at = null
  from held e
  where d.id = e.delivery_id
    and (e.error_kind is null or d.status = 'pending' and d.attempts = e.number and d.leased_until is not null)
)
insert into delivery_attempts as a (delivery_id, number, started_at, duration_ms, dns_ms, connect_ms, wait_ms, read_ms, http_status,
  error_kind, error, response_excerpt)
select e.delivery_id, e.number, e.started_at, e.duration_ms, e.dns_ms, e.connect_ms, e.wait_ms, e.read_ms, e.http_status,
  e.error_kind, e.error, e.response_excerpt
from held e
on conflict (delivery_id, number) do update
set duration_ms = excluded.duration_ms, dns_ms = excluded.dns_ms, connect_ms = excluded.connect_ms, wait_ms = excluded.wait_ms,
  read_ms = excluded.read_ms, http_status = excluded.http_status, error_kind = excluded.error_kind, error = excluded.error,
  response_excerpt = excluded.response_excerpt
where a.error_kind = 'interrupted'`,
};

/** Returns every queue with a delivery that is due and not leased. */
export async function findQueuesWithDue(database: Database, now: Date): Promise<readonly DeliveryQueue[]> {
  const rows = await database.query<{ endpoint_id: string; environment: Environment }>(QUEUES_WITH_DUE, [now]);
  return rows.map((row) => ({ endpointId: row.endpoint_id, environment: row.environment }));
}

/**
 * Leases sends. Once this has committed, durably, only the caller may make each send until the
 * lease expires. `keyVersions` names the keys under which the caller can read secrets.
 */
export async function leaseSends(
  database: Database,
  allocations: readonly QueueAllocation[],
  {
    now,
    leasedUntil,
    keyVersions,
  }: { readonly now: Date; readonly leasedUntil: Date; readonly keyVersions: readonly number[] },
): Promise<LeasedSends> {
  const values = [
    now,
    allocations.map(({ endpointId }) => endpointId),
    allocations.map(({ slots }) => slots),
    leasedUntil,
    ERROR_SENTENCES.interrupted,
    keyVersions,
    allocations.map(({ environment }) => environment),
  ];
  const rows = await database.write<LeasedRow>(LEASE, values, { durable: true });
  const byQueue = new Map<string, { rows: number; sends: number }>();
  const sends: Send[] = [];
  for (const row of rows) {
    const key = queueKeyOf({ endpointId: row.endpoint_id, environment: row.environment });
    const ofQueue = byQueue.get(key) ?? { rows: 0, sends: 0 };
    const isSend = row.status === 'pending';
    byQueue.set(key, { rows: ofQueue.rows + 1, sends: ofQueue.sends + (isSend ? 1 : 0) });
    if (isSend) sends.push(toSend(row, now));
  }
  return { sends, byQueue };
}

/**
 * Does not wait for the disk: a send whose end is lost counts as interrupted, and its delivery
 * continues after the lease.
 */
export async function recordSends(database: Database, records: readonly SendRecord[]): Promise<void> {
  const values = [
    records.map(({ send }) => send.deliveryId),
    records.map(({ send }) => send.number),
    records.map(({ send }) => send.startedAt),
    records.map(({ durationMs }) => durationMs),
    records.map(({ phases }) => phases.dnsMs),
    records.map(({ phases }) => phases.connectMs),
    records.map(({ phases }) => phases.waitMs),
    records.map(({ phases }) => phases.readMs),
    records.map(({ result }) => result.httpStatus),
    records.map(({ result }) => result.error?.kind ?? null),
    records.map(({ result }) => result.error?.sentence ?? null),
    records.map(({ result }) => result.responseExcerpt),
    records.map(({ result }) => result.nextSendAt),
  ];
  await database.write(RECORD, values, { durable: false });
}

function toSend(row: LeasedRow, startedAt: Date): Send {
  return {
    deliveryId: row.id,
    endpointId: row.endpoint_id,
    number: row.attempts,
    eventType: row.event_type,
    body: row.body,
    url: row.url,
    sealedSecret: row.secret,
    environment: row.environment,
    startedAt,
  };
}
