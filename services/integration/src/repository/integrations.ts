/** Integrations, as partners see and change them, and their encrypted secrets. */
import type { Queryable } from '@laurel/postgres';
import type { Tenant } from '@laurel/values/tenant';
import type { Integration, IntegrationStatus, Transport } from '../domain/integration.ts';

type IntegrationRow = {
  id: string;
  program_id: string;
  environment: Tenant['environment'];
  transport: Transport;
  status: IntegrationStatus;
  descriptor: string;
  has_signing_secret: boolean;
  has_pull_secret: boolean;
  pull_origin: string | null;
  pull_interval_seconds: number | null;
  last_polled_at: Date | null;
  next_poll_at: Date | null;
  consecutive_failures: number;
  last_poll_error: string | null;
  created_at: Date;
};

const COLUMNS = `id, program_id, environment, transport, status, descriptor::text as descriptor,
  signing_secret is not null as has_signing_secret, pull_secret is not null as has_pull_secret, pull_origin, pull_interval_seconds,
  last_polled_at, next_poll_at, consecutive_failures, last_poll_error, created_at`;

// The text before the program's id keeps this lock apart from the database's other advisory locks.
const LOCK_TENANT = {
  text: `select pg_advisory_xact_lock(hashtextextended('integrations of:' || $1::uuid || ':' || $2::text, 0))`,
};

const COUNT = {
  text: 'select count(*)::int as integrations from integrations where program_id = $1 and environment = $2',
};

const INSERT = {
  text: `
insert into integrations (id, program_id, environment, transport, status, descriptor, signing_secret, pull_secret, pull_origin,
  pull_interval_seconds, created_at)
values ($1, $2, $3, $4, $5, $6::json, $7, $8, $9, $10, $11)`,
};

const SELECT_OF_TENANT = {
  name: 'integrations_of_tenant',
  text: `
select ${COLUMNS} from integrations where program_id = $1 and environment = $2 order by created_at desc, id desc`,
};

const OWN = `select ${COLUMNS} from integrations where id = $1 and program_id = $2 and environment = $3`;

const SELECT_OWN = { name: 'integrations_own', text: OWN };

const LOCK_OWN = { text: `${OWN} for no key update` };

// A new lease number keeps a poll in flight from storing the cursor of its old way of paging.
const UPDATE = {
  text: `
update integrations
set status = $2, descriptor = $3::json, pull_origin = $4, pull_interval_seconds = $5, next_poll_at = $6,
  cursor = case when $7 then null else cursor end,
  cursor_refusals = case when $7 then 0 else cursor_refusals end,
  lease_number = case when $7 then lease_number + 1 else lease_number end,
  pull_secret = case when $8 then pull_secret else $9 end
where id = $1`,
};

const ROTATE = {
  text: 'update integrations set previous_signing_secret = signing_secret, signing_secret = $2 where id = $1',
};

const RETIRE = {
  text: `
update integrations set previous_signing_secret = null where id = $1 and program_id = $2 and environment = $3
returning ${COLUMNS}`,
};

/** Keeps other transactions from adding an integration for this tenant until this one ends. */
export async function lockIntegrationsOf(on: Queryable, { programId, environment }: Tenant): Promise<void> {
  await on.query(LOCK_TENANT, [programId, environment]);
}

export async function countIntegrationsOf(on: Queryable, { programId, environment }: Tenant): Promise<number> {
  const [row] = await on.query<{ integrations: number }>(COUNT, [programId, environment]);
  return row?.integrations ?? 0;
}

/** Inserts an integration. Its secrets are encrypted, and bound to the integration's id. */
export async function insertIntegration(
  on: Queryable,
  integration: Integration,
  secrets: { readonly signing: Buffer | null; readonly pull: Buffer | null },
): Promise<void> {
  await on.query(INSERT, [
    integration.id,
    integration.tenant.programId,
    integration.tenant.environment,
    integration.transport,
    integration.status,
    integration.descriptor,
    secrets.signing,
    secrets.pull,
    integration.pullOrigin,
    integration.pullIntervalSeconds,
    integration.createdAt,
  ]);
}

/** The tenant's integrations, newest first. */
export async function listIntegrationsOf(
  on: Queryable,
  { programId, environment }: Tenant,
): Promise<readonly Integration[]> {
  return (await on.query<IntegrationRow>(SELECT_OF_TENANT, [programId, environment])).map(toIntegration);
}

export async function findIntegration(on: Queryable, tenant: Tenant, id: string): Promise<Integration | null> {
  return firstIntegration(await on.query<IntegrationRow>(SELECT_OWN, [id, tenant.programId, tenant.environment]));
}

/**
 * Until this transaction ends, no other one changes the integration or its secrets, and no poll of
 * it begins or is recorded.
 */
export async function lockIntegration(on: Queryable, tenant: Tenant, id: string): Promise<Integration | null> {
  return firstIntegration(await on.query<IntegrationRow>(LOCK_OWN, [id, tenant.programId, tenant.environment]));
}

/**
 * `startsOver` forgets the cursor, and whatever a poll in flight has found. `pullSecret` is
 * encrypted and bound to the integration's id; null removes the stored one, undefined keeps it.
 */
export async function updateIntegration(
  on: Queryable,
  { id, status, descriptor, pullOrigin, pullIntervalSeconds, nextPollAt }: Integration,
  { startsOver, pullSecret }: { readonly startsOver: boolean; readonly pullSecret: Buffer | null | undefined },
): Promise<void> {
  const values = [id, status, descriptor, pullOrigin, pullIntervalSeconds, nextPollAt];
  await on.query(UPDATE, [...values, startsOver, pullSecret === undefined, pullSecret ?? null]);
}

/** The current signing secret becomes the previous one. */
export async function rotateSigningSecret(on: Queryable, id: string, secret: Buffer): Promise<void> {
  await on.query(ROTATE, [id, secret]);
}

/**
 * Removes the previous signing secret, and returns the integration; null if the tenant has no such
 * integration.
 */
export async function retirePreviousSecret(on: Queryable, tenant: Tenant, id: string): Promise<Integration | null> {
  return firstIntegration(await on.query<IntegrationRow>(RETIRE, [id, tenant.programId, tenant.environment]));
}

function firstIntegration([row]: readonly IntegrationRow[]): Integration | null {
  return row === undefined ? null : toIntegration(row);
}

function toIntegration(row: IntegrationRow): Integration {
  return {
    id: row.id,
    tenant: { programId: row.program_id, environment: row.environment },
    transport: row.transport,
    status: row.status,
    descriptor: row.descriptor,
    hasSigningSecret: row.has_signing_secret,
    hasPullSecret: row.has_pull_secret,
    pullOrigin: row.pull_origin,
    pullIntervalSeconds: row.pull_interval_seconds,
    lastPolledAt: row.last_polled_at,
    nextPollAt: row.next_poll_at,
    consecutiveFailures: row.consecutive_failures,
    lastPollError: row.last_poll_error,
    createdAt: row.created_at,
  };
}
