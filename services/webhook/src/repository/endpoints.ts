/**
 * Endpoints, as their developers see and change them. consumed-events.ts matches events with them.
 */
import type { WebhookEventType } from '@laurel/events/event-type';
import type { Queryable } from '@laurel/postgres';
import type { Environment } from '@laurel/values/tenant';
import type { Endpoint } from '../domain/endpoint.ts';

type EndpointRow = {
  id: string;
  developer_id: string;
  url: string;
  events: WebhookEventType[];
  program_id: string | null;
  environment: Environment | null;
  description: string;
  is_active: boolean;
  created_at: Date;
};

const COLUMNS = 'id, developer_id, url, events, program_id, environment, description, is_active, created_at';

// The text before the developer's id keeps this lock apart from the database's other advisory
// locks.
const LOCK_DEVELOPER = { text: `select pg_advisory_xact_lock(hashtextextended('endpoints of:' || $1::uuid, 0))` };

const COUNT = {
  text: 'select count(*)::int as endpoints from endpoints where developer_id = $1 and deleted_at is null',
};

const INSERT = {
  text: `
insert into endpoints (id, developer_id, url, events, program_id, environment, description, is_active, secret, created_at)
values ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9, $10)`,
};

const SELECT_OF_DEVELOPER = {
  name: 'endpoints_of_developer',
  text: `select ${COLUMNS} from endpoints where developer_id = $1 and deleted_at is null order by created_at, id`,
};

const OWN = `select ${COLUMNS} from endpoints where id = $1 and developer_id = $2 and deleted_at is null`;

const SELECT_OWN = { name: 'endpoints_own', text: OWN };

// This lock conflicts with the key share lock that every insert of a delivery takes, also through
// its foreign key. So a request that switches an endpoint off waits until concurrent inserts of
// deliveries end, and closes those deliveries too.
const LOCK_TO_CHANGE = { text: `${OWN} for update` };

// The endpoint does not change while this lock is held; inserts of deliveries do not wait for each
// other.
const LOCK_TO_SEND = { text: `${OWN} for key share` };

// This lock conflicts with itself and with a change of the endpoint, and with no insert of a
// delivery: events continue to arrive meanwhile.
const LOCK_TO_RESEND = { text: `${OWN} for no key update` };

const UPDATE = {
  text: 'update endpoints set url = $2, events = $3::text[], description = $4, is_active = $5 where id = $1',
};

const DELETE = { text: 'update endpoints set is_active = false, deleted_at = $2 where id = $1' };

const UPDATE_SECRET = {
  text: `
update endpoints set secret = $3 where id = $1 and developer_id = $2 and deleted_at is null
returning ${COLUMNS}`,
};

/** Keeps other transactions from adding an endpoint for this developer until this one ends. */
export async function lockEndpointsOf(on: Queryable, developerId: string): Promise<void> {
  await on.query(LOCK_DEVELOPER, [developerId]);
}

export async function countEndpointsOf(on: Queryable, developerId: string): Promise<number> {
  const [row] = await on.query<{ endpoints: number }>(COUNT, [developerId]);
  return row?.endpoints ?? 0;
}

/** Inserts an endpoint. The secret is encrypted, and bound to the endpoint's id. */
export async function insertEndpoint(on: Queryable, endpoint: Endpoint, secret: Buffer): Promise<void> {
  await on.query(INSERT, [
    endpoint.id,
    endpoint.developerId,
    endpoint.url,
    endpoint.events,
    endpoint.programId,
    endpoint.environment,
    endpoint.description,
    endpoint.isActive,
    secret,
    endpoint.createdAt,
  ]);
}

/** The developer's endpoints, oldest first. */
export async function listEndpointsOf(on: Queryable, developerId: string): Promise<readonly Endpoint[]> {
  return (await on.query<EndpointRow>(SELECT_OF_DEVELOPER, [developerId])).map(toEndpoint);
}

export async function findEndpoint(on: Queryable, developerId: string, id: string): Promise<Endpoint | null> {
  return firstEndpoint(await on.query<EndpointRow>(SELECT_OWN, [id, developerId]));
}

/**
 * Keeps other transactions from changing the endpoint or adding a delivery to it until this one
 * ends.
 */
export async function lockEndpointToChange(on: Queryable, developerId: string, id: string): Promise<Endpoint | null> {
  return firstEndpoint(await on.query<EndpointRow>(LOCK_TO_CHANGE, [id, developerId]));
}

/**
 * Keeps other transactions from changing the endpoint until this one ends, so that an active
 * endpoint is still active when the delivery commits.
 */
export async function lockEndpointToSend(on: Queryable, developerId: string, id: string): Promise<Endpoint | null> {
  return firstEndpoint(await on.query<EndpointRow>(LOCK_TO_SEND, [id, developerId]));
}

/**
 * Keeps other transactions from changing the endpoint, and from taking this lock, until this one
 * ends.
 */
export async function lockEndpointToResend(on: Queryable, developerId: string, id: string): Promise<Endpoint | null> {
  return firstEndpoint(await on.query<EndpointRow>(LOCK_TO_RESEND, [id, developerId]));
}

export async function updateEndpoint(
  on: Queryable,
  { id, url, events, description, isActive }: Pick<Endpoint, 'id' | 'url' | 'events' | 'description' | 'isActive'>,
): Promise<void> {
  await on.query(UPDATE, [id, url, events, description, isActive]);
}

/** Marks the endpoint as deleted. Its row stays until the last delivery of its log is deleted. */
export async function deleteEndpoint(on: Queryable, id: string, now: Date): Promise<void> {
  await on.query(DELETE, [id, now]);
}

/** Returns the endpoint whose secret was replaced; null if the developer has no such endpoint. */
export async function updateSecret(
  on: Queryable,
  developerId: string,
  id: string,
  secret: Buffer,
): Promise<Endpoint | null> {
  return firstEndpoint(await on.query<EndpointRow>(UPDATE_SECRET, [id, developerId, secret]));
}

function firstEndpoint([row]: readonly EndpointRow[]): Endpoint | null {
  return row === undefined ? null : toEndpoint(row);
}

function toEndpoint(row: EndpointRow): Endpoint {
  return {
    id: row.id,
    developerId: row.developer_id,
    url: row.url,
    events: row.events,
    programId: row.program_id,
    environment: row.environment,
    description: row.description,
    isActive: row.is_active,
    createdAt: row.created_at,
  };
}
