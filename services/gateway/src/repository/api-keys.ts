import type { Database, Statement, Transaction } from '@laurel/postgres';
import type { ApiKeyEnvironment } from '../domain/api-key.ts';

/** The stored fields of a key that was just minted. */
export type NewKey = {
  readonly id: string;
  readonly environment: ApiKeyEnvironment;
  readonly hash: Buffer;
  readonly pepperVersion: number;
  readonly prefix: string;
  readonly last4: string;
};

const INSERT = {
  name: 'insert_api_key',
  text: `insert into api_keys (id, program_id, environment, key_hash, pepper_version, prefix, last4)
values ($1, $2, $3, $4, $5, $6, $7)`,
};

export async function insertKey(transaction: Transaction, programId: string, key: NewKey): Promise<void> {
  await transaction.query(INSERT, [
    key.id,
    programId,
    key.environment,
    key.hash,
    key.pepperVersion,
    key.prefix,
    key.last4,
  ]);
}

const REVOKE = {
  name: 'revoke_api_keys',
  text: `update api_keys
set
  revoked_at = $3,
  -- Its window is its successor's from now on.
  last_used_at = greatest(last_used_at, (
    select last_request_at from request_windows
    where request_windows.subject = api_keys.window_id and request_windows.key_id = api_keys.id
  ))
where program_id = $1 and environment = $2 and revoked_at is null
returning id`,
};

/** Revokes the program's working key of an environment, and returns the ids of the revoked keys. */
export async function revokeKeys(
  transaction: Transaction,
  programId: string,
  environment: ApiKeyEnvironment,
  now: Date,
): Promise<string[]> {
  const rows = await transaction.query<{ id: string }>(REVOKE, [programId, environment, now]);
  return rows.map(({ id }) => id);
}

const HAD_KEY = {
  name: 'had_api_key',
  text: 'select exists (select from api_keys where program_id = $1 and environment = $2) as had',
};

/** Whether the program ever had a key of this environment, including revoked ones. */
export async function hadKey(
  transaction: Transaction,
  programId: string,
  environment: ApiKeyEnvironment,
): Promise<boolean> {
  const rows = await transaction.query<{ had: boolean }>(HAD_KEY, [programId, environment]);
  return rows[0]?.had === true;
}

const HAS_KEY = {
  name: 'has_api_key',
  text: `select exists (
  select from api_keys where program_id = $1 and environment = $2 and revoked_at is null
) as has`,
};

/** Whether the program has a key of this environment that is not revoked. */
export async function hasKey(
  transaction: Transaction,
  programId: string,
  environment: ApiKeyEnvironment,
): Promise<boolean> {
  const rows = await transaction.query<{ has: boolean }>(HAS_KEY, [programId, environment]);
  return rows[0]?.has === true;
}

const REHASH: Statement = {
  name: 'rehash_api_keys',
  text: `
with held as materialized (
  select anew.*
  from (select * from unnest($1::uuid[], $2::bytea[]) as anew (id, key_hash) order by id) as anew
  cross join lateral (select from api_keys where api_keys.id = anew.id and api_keys.pepper_version < $3 for no key update) as key
)
update api_keys set key_hash = held.key_hash, pepper_version = $3 from held where api_keys.id = held.id`,
};

/**
 * Stores for each key its hash under this version of the pepper, unless the stored hash is already
 * of this or a later version.
 */
export async function rehashKeys(
  database: Database,
  keys: readonly { readonly apiKeyId: string; readonly keyHash: string }[],
  pepperVersion: number,
): Promise<void> {
  const ids = keys.map(({ apiKeyId }) => apiKeyId);
  const hashes = keys.map(({ keyHash }) => `\\x${keyHash}`);
  await database.query(REHASH, [ids, hashes, pepperVersion]);
}

const COUNT_BY_PEPPER: Statement = {
  text: `select pepper_version as version, count(*)::integer as count from api_keys where revoked_at is null group by 1`,
};

/** How many unrevoked keys are hashed under each version of the pepper. */
export async function countKeysByPepper(
  database: Database,
): Promise<readonly { readonly version: number; readonly count: number }[]> {
  return database.query<{ version: number; count: number }>(COUNT_BY_PEPPER);
}
