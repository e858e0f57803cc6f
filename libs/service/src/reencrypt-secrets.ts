/**
 * After a change of the encryption key, moves a service's stored secrets to the current key. The
 * metric `laurel_encrypted_secrets` shows the operator how many are still under which version.
 * A secret under a key that is not configured stays unchanged.
 * A service refuses to start with a key that opens none of the secrets stored under its version.
 */
import { type Encryption, keyVersionOf, UnknownKeyError } from '@laurel/encryption';
import { gauge } from '@laurel/telemetry';
import type { Logger } from './logger.ts';

/** How a service stores its secrets. A row has one secret or several. */
export interface SecretStore<Row extends { readonly id: string }> {
  /** How many secrets each key version has; version 0 counts those whose version cannot be read. */
  countByKeyVersion(): Promise<readonly { readonly version: number; readonly count: number }[]>;
  /** The next rows after this id, by id, that have a secret under one of these versions. */
  findUnder(versions: readonly number[], afterId: string | null, limit: number): Promise<readonly Row[]>;
  /**
   * Replaces each secret of the row by what `replace` returns. `owner` is what the secret is bound
   * to.
   */
  mapSecrets(row: Row, replace: (secret: Buffer, owner: string) => Buffer): Row;
  /**
   * Writes each row whose secrets have not changed since they were read; returns how many. The
   * write is durable: the former key may be deleted afterwards.
   */
  replace(rows: readonly { readonly before: Row; readonly after: Row }[]): Promise<number>;
}

/** How often each service that stores secrets looks for secrets under former keys. */
export const REENCRYPT_INTERVAL_MS = 30_000;

/** Few enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 100;

/**
 * How many secrets of a version are tried at the start, so that one damaged secret does not prevent
 * the start.
 */
const TRIED_AT_START = 20;

/** A configured key differs from the key that encrypted under the same version. */
export class WrongKeyError extends Error {
  override readonly name = 'WrongKeyError';
}

/**
 * `verifyKeys` rejects with WrongKeyError if a key is not the one of its version; the worker calls
 * `runOnce`.
 */
export function createReencryptSecrets<Row extends { readonly id: string }>(options: {
  readonly encryption: Encryption;
  readonly store: SecretStore<Row>;
  readonly logger: Logger;
}): { readonly verifyKeys: () => Promise<void>; readonly runOnce: () => Promise<void> } {
  const { encryption, store, logger } = options;
  const { versions } = encryption;
  const [current = 0] = versions;
  const former = versions.filter((version) => version < current);
  const secrets = gauge('laurel_encrypted_secrets', 'Stored secrets, by the version of the key that encrypts them.', [
    'key_version',
  ]);
  let warnedOf = '';
  /** Ids of the rows that the last run logged: the next one does not log them again. */
  let logged: ReadonlySet<string> = new Set();

  /**
   * Moves each secret separately. One whose key is not configured stays, and is counted. One that
   * does not open stays, is logged, and is left to the operator.
   */
  function reencrypt(before: Row): {
    readonly change: { readonly before: Row; readonly after: Row } | null;
    readonly error: unknown;
  } {
    let isChanged = false;
    let error: unknown;
    const after = store.mapSecrets(before, (secret, owner) => {
      try {
        const moved = encryption.reencrypt(secret, owner);
        isChanged ||= moved !== null;
        return moved ?? secret;
      } catch (cause) {
        if (!(cause instanceof UnknownKeyError)) error ??= cause;
        return secret;
      }
    });
    return { change: isChanged ? { before, after } : null, error };
  }

  /** Whether this key opens one of the row's secrets under this version. */
  function opensUnder(version: number, row: Row): boolean {
    let opens = false;
    store.mapSecrets(row, (secret, owner) => {
      try {
        if (keyVersionOf(secret) === version) {
          encryption.decrypt(secret, owner);
          opens = true;
        }
      } catch {
        // Another secret of the row, or of another row, may open.
      }
      return secret;
    });
    return opens;
  }

  async function verifyKeys(): Promise<void> {
    for (const version of versions) {
      const rows = await store.findUnder([version], null, TRIED_AT_START);
      if (rows.length === 0 || rows.some((row) => opensUnder(version, row))) continue;
      throw new WrongKeyError(
        `no stored secret under version ${version} of the key opens with the key that is configured for it: each change of the key raises ` +
          'its version (docs/operations/rotate-secrets.md)',
      );
    }
  }

  async function moveToCurrent(): Promise<void> {
    let moved = 0;
    const broken = new Set<string>();
    for (let afterId: string | null = null; ; ) {
      const rows: readonly Row[] = await store.findUnder(former, afterId, ROWS_A_STATEMENT);
      const changes = [];
      for (const row of rows) {
        const { change, error } = reencrypt(row);
        if (change !== null) changes.push(change);
        if (error === undefined) continue;
        broken.add(row.id);
        if (logged.has(row.id)) continue;
        logger.error({ err: error, id: row.id }, 'a stored secret does not open with the configured keys');
      }
      if (changes.length > 0) moved += await store.replace(changes);
      if (rows.length < ROWS_A_STATEMENT) break;
      afterId = rows.at(-1)?.id ?? null;
    }
    logged = broken;
    if (moved > 0) logger.info({ rows: moved, keyVersion: current }, 'stored secrets were encrypted again');
  }

  async function runOnce(): Promise<void> {
    if (former.length > 0) await moveToCurrent();
    const counts = await store.countByKeyVersion();
    secrets.reset();
    for (const { version, count } of counts) secrets.set({ key_version: String(version) }, count);

    const unknown = counts.filter(({ version }) => !versions.includes(version));
    const text = JSON.stringify(unknown);
    if (unknown.length > 0 && text !== warnedOf) {
      logger.warn({ unknown }, 'stored secrets are encrypted under a key that is not configured');
    }
    warnedOf = text;
  }

  return { verifyKeys, runOnce };
}
