/** The encrypted secrets of all integrations: a change of the encryption key re-encrypts each. */
import { keyVersionSql } from '@laurel/encryption';
import type { Database } from '@laurel/postgres';

/**
 * An integration's secrets, each encrypted and bound to its id; null for a secret that it does not
 * have.
 */
export type IntegrationSecrets = {
  readonly id: string;
  readonly signing: Buffer | null;
  readonly previousSigning: Buffer | null;
  readonly pull: Buffer | null;
};

type SecretsRow = {
  id: string;
  signing_secret: Buffer | null;
  previous_signing_secret: Buffer | null;
  pull_secret: Buffer | null;
};

const KEY_VERSIONS = ['signing_secret', 'previous_signing_secret', 'pull_secret'].map(keyVersionSql).join(', ');

const COUNT = {
  text: `
select version, count(*)::int as count
from integrations cross join lateral unnest(array[${KEY_VERSIONS}]) as version
where version is not null
group by 1`,
};

const FIND = {
  text: `
select id, signing_secret, previous_signing_secret, pull_secret from integrations
where ($2::uuid is null or id > $2) and array[${KEY_VERSIONS}] && $1::int[]
order by id limit $3`,
};

// Skips an integration if a partner has changed one of its secrets since it was read; the next run
// reads it again. Rows are locked in id order (docs/lock-order.md).
const REPLACE = {
  text: `
with held as materialized (
  select w.*
  from (
    select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[])
      as w (id, signing, previous_signing, pull, new_signing, new_previous_signing, new_pull)
    order by id
  ) w
  cross join lateral (
    select from integrations i
    where i.id = w.id and i.signing_secret is not distinct from w.signing
      and i.previous_signing_secret is not distinct from w.previous_signing and i.pull_secret is not distinct from w.pull
    for no key update
  ) i
)
update integrations i
set signing_secret = held.new_signing, previous_signing_secret = held.new_previous_signing, pull_secret = held.new_pull
from held
where i.id = held.id
returning i.id`,
};

/** How many secrets each version of the key encrypts. */
export async function countSecretsByKeyVersion(
  database: Database,
): Promise<readonly { readonly version: number; readonly count: number }[]> {
  return database.query<{ version: number; count: number }>(COUNT, []);
}

/**
 * Returns integrations with a secret under one of these versions of the key, in the order of their
 * ids, after this id.
 */
export async function findSecretsUnder(
  database: Database,
  versions: readonly number[],
  afterId: string | null,
  limit: number,
): Promise<readonly IntegrationSecrets[]> {
  const rows = await database.query<SecretsRow>(FIND, [versions, afterId, limit]);
  return rows.map((row) => ({
    id: row.id,
    signing: row.signing_secret,
    previousSigning: row.previous_signing_secret,
    pull: row.pull_secret,
  }));
}

/**
 * Replaces the secrets of each integration whose secrets have not changed since they were read;
 * returns how many integrations were.
 */
export async function replaceSecrets(
  database: Database,
  rows: readonly { readonly before: IntegrationSecrets; readonly after: IntegrationSecrets }[],
): Promise<number> {
  const values = [
    rows.map(({ before }) => before.id),
    rows.map(({ before }) => before.signing),
    rows.map(({ before }) => before.previousSigning),
    rows.map(({ before }) => before.pull),
    rows.map(({ after }) => after.signing),
    rows.map(({ after }) => after.previousSigning),
    rows.map(({ after }) => after.pull),
  ];
  return (await database.write(REPLACE, values, { durable: true })).length;
}
