/**
 * The keys that signed a contest service's receipts, each with its period of validity. One key is
 * current: its period has no end yet.
 *
 * A process that starts with a new key makes that key the current one. The replaced key stays valid
 * for another minute, and a process that still signs with the replaced key extends its validity
 * every few seconds. So while replicas change their seed one after the other, both keys are valid:
 * as long as the change takes, and a minute longer. All times are by the database's clock.
 */
import { type Database, isUniqueViolation, type Queryable } from '@laurel/postgres';

export type SigningKey = {
  /** The key is encoded as SPKI DER. */
  readonly publicKey: Buffer;
  readonly from: Date;
  /** The end is null while the key is current. */
  readonly until: Date | null;
};

/**
 * Much shorter than the time for which a replaced key stays valid, so that a process that ends
 * between two extensions leaves no receipt outside the key's period.
 */
export const EXTENSION_INTERVAL_MS = 15_000;
const REPLACED_KEY_COUNTS_FOR = `interval '1 minute'`;

// Makes processes that start together put their keys one after the other. Without this lock they
// would deadlock: a process that inserts a key waits for a process that replaces the current key,
// and that process waits for the same key to be inserted.
const LOCK = { text: `select pg_advisory_xact_lock(hashtextextended('signing_keys', 0))` };

const REPLACE = {
  text: `
update signing_keys set valid_until = greatest(now(), created_at) + ${REPLACED_KEY_COUNTS_FOR}
where valid_until is null and not exists (select from signing_keys known where known.public_key = $1)`,
};

// The key's period begins a second early: a process dates receipts by its own estimate of the
// database's time, which can be half a second off.
const INSERT = {
  text: `
insert into signing_keys (public_key, created_at) values ($1, now() - interval '1 second')
on conflict (public_key) do nothing`,
};

const SELECT_ID = { text: 'select id from signing_keys where public_key = $1' };

const EXTEND = {
  text: `update signing_keys set valid_until = greatest(valid_until, now() + ${REPLACED_KEY_COUNTS_FOR}) where id = $1 and valid_until is not null`,
};

const SELECT_ALL = { text: 'select public_key, created_at, valid_until from signing_keys order by created_at, id' };

/**
 * Inserts the key unless it is known, and returns its id. A new key becomes the current key;
 * processes that start together agree on one current key. A key that was replaced stays replaced,
 * and is valid as long as a process extends it.
 */
export async function putSigningKey(database: Database, publicKey: Buffer): Promise<number> {
  try {
    return await database.transaction(async (tx) => {
      await tx.query(LOCK);
      await tx.query(REPLACE, [publicKey]);
      await tx.query(INSERT, [publicKey]);
      const [row] = await tx.query<{ id: number }>(SELECT_ID, [publicKey]);
      if (row === undefined) throw new Error('a signing key that was just put cannot be read');
      await extendSigningKey(tx, row.id);
      return row.id;
    });
  } catch (error) {
    // A process of an earlier software version, which takes no lock, inserted another key at the
    // same time. The second try makes this key replace the other one.
    if (!isUniqueViolation(error, 'signing_keys_one_is_current')) throw error;
    return putSigningKey(database, publicKey);
  }
}

/** Keeps the key valid while a process signs with it; changes nothing while the key is current. */
export async function extendSigningKey(on: Queryable, id: number): Promise<void> {
  await on.query(EXTEND, [id]);
}

/** Returns every key, oldest first. */
export async function listSigningKeys(on: Queryable): Promise<readonly SigningKey[]> {
  const rows = await on.query<{ public_key: Buffer; created_at: Date; valid_until: Date | null }>(SELECT_ALL);
  return rows.map((row) => ({ publicKey: row.public_key, from: row.created_at, until: row.valid_until }));
}
