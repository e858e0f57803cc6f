/**
 * The encrypted signing secrets of all endpoints, deleted ones included: a change of the encryption
 * key re-encrypts each.
 */
import { keyVersionSql } from '@laurel/encryption';
import type { Database } from '@laurel/postgres';

/** A stored secret, encrypted and bound to the endpoint's id. */
export type EndpointSecret = { readonly id: string; readonly secret: Buffer };

const KEY_VERSION = keyVersionSql('secret');

const COUNT = { text: `select ${KEY_VERSION} as version, count(*)::int as count from endpoints group by 1` };

const FIND = {
  text: `
select id, secret from endpoints
where ($2::uuid is null or id > $2) and ${KEY_VERSION} = any($1::int[])
order by id limit $3`,
};

// Skips a secret that its developer has replaced since it was read. Rows are locked in id order
// (docs/lock-order.md).
const REPLACE = {
  text: `
with held as materialized (
  select w.*
  from (select * from unnest($1::uuid[], $2::bytea[], $3::bytea[]) as w (id, before, after) order by id) w
  cross join lateral (select from endpoints e where e.id = w.id and e.secret = w.before for no key update) e
)
update endpoints set secret = held.after from held where endpoints.id = held.id
returning endpoints.id`,
};

/** How many secrets each version of the key encrypts. */
export async function countSecretsByKeyVersion(
  database: Database,
): Promise<readonly { readonly version: number; readonly count: number }[]> {
  return database.query<{ version: number; count: number }>(COUNT, []);
}

/**
 * Returns secrets under one of these versions of the key, in the order of their ids, after this id.
 */
export async function findSecretsUnder(
  database: Database,
  versions: readonly number[],
  afterId: string | null,
  limit: number,
): Promise<readonly EndpointSecret[]> {
  return database.query<EndpointSecret>(FIND, [versions, afterId, limit]);
}

/** Replaces each secret that has not changed since it was read; returns how many were replaced. */
export async function replaceSecrets(
  database: Database,
  rows: readonly { readonly before: EndpointSecret; readonly after: EndpointSecret }[],
): Promise<number> {
  const values = [
    rows.map(({ before }) => before.id),
    rows.map(({ before }) => before.secret),
    rows.map(({ after }) => after.secret),
  ];
  return (await database.write(REPLACE, values, { durable: true })).length;
}
