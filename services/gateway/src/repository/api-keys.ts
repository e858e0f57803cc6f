import type { Transaction } from '@laurel/postgres';
import type { KeyEnvironment } from '../domain/api-key.ts';

/** What is stored of a key that was just minted. */
export type NewKey = {
  readonly id: string;
  readonly environment: KeyEnvironment;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly last4: string;
};

const INSERT = {
  name: 'insert_api_key',
  text: `insert into api_keys (id, program_id, environment, key_hash, prefix, last4) values ($1, $2, $3, $4, $5, $6)`,
};

export async function insertKey(transaction: Transaction, programId: string, key: NewKey): Promise<void> {
  await transaction.query(INSERT, [key.id, programId, key.environment, key.hash, key.prefix, key.last4]);
}

const REVOKE = {
  name: 'revoke_api_keys',
  text: `update api_keys set revoked_at = $3
where program_id = $1 and environment = $2 and revoked_at is null
returning encode(key_hash, 'hex') as "keyHash"`,
};

/** Ends the program's working key of an environment, and answers the hashes of what it ended, in hexadecimal. */
export async function revokeKeys(
  transaction: Transaction,
  programId: string,
  environment: KeyEnvironment,
  now: Date,
): Promise<string[]> {
  const rows = await transaction.query<{ keyHash: string }>(REVOKE, [programId, environment, now]);
  return rows.map(({ keyHash }) => keyHash);
}

const HAD_KEY = {
  name: 'had_api_key',
  text: 'select exists (select from api_keys where program_id = $1 and environment = $2) as had',
};

/** Whether the program ever had a key of this environment, revoked ones included. */
export async function hadKey(
  transaction: Transaction,
  programId: string,
  environment: KeyEnvironment,
): Promise<boolean> {
  const rows = await transaction.query<{ had: boolean }>(HAD_KEY, [programId, environment]);
  return rows[0]?.had === true;
}
