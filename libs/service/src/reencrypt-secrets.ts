/**
 * After a change of the key that encrypts a service's secrets: its stored secrets move to the current key, and the metric
 * `laurel_encrypted_secrets` shows the operator how many are still under which. A secret under a key that is not configured stays as it is.
 * A service does not start with a key under which none of the secrets opens that name its version.
 */
import { gauge } from '@laurel/telemetry';
import type { Logger } from './logger.ts';

/** What a service stores; a row has one secret or several. */
export interface SecretStore<Row extends { readonly id: string }> {
  /** How many secrets are under each version of the key; under 0, those whose version cannot be read. */
  countByKeyVersion(): Promise<readonly { readonly version: number; readonly count: number }[]>;
  /** Rows behind this id, by id, that have a secret under one of these versions. */
  findUnder(versions: readonly number[], afterId: string | null, limit: number): Promise<readonly Row[]>;
  /** Throws unless each secret of the row whose key is configured opens. */
  open(row: Row): void;
  /** The row with its secrets under the current key. Throws for a secret that does not open. */
  reencrypt(row: Row): Row;
  /** Writes each row whose secrets are still those that were read; returns how many were. Durable: the former key may be deleted afterwards. */
  replace(rows: readonly { readonly before: Row; readonly after: Row }[]): Promise<number>;
}

/** Few enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 100;

/** How many secrets of a version are tried at the start: one that was damaged does not prevent it. */
const TRIED_AT_START = 20;

/** A key is not the one that its version names. */
export class WrongKeyError extends Error {
  override readonly name = 'WrongKeyError';
}

/**
 * `versions`: those of the configured keys, that of the current one first. `verifyKeys` rejects with WrongKeyError for a key that is not the one
 * of its version; `runOnce` is the worker's.
 */
export function createReencryptSecrets<Row extends { readonly id: string }>(options: {
  readonly versions: readonly number[];
  readonly store: SecretStore<Row>;
  readonly logger: Logger;
}): { readonly verifyKeys: () => Promise<void>; readonly runOnce: () => Promise<void> } {
  const { versions, store, logger } = options;
  const [current = 0] = versions;
  const former = versions.filter((version) => version < current);
  const secrets = gauge('laurel_encrypted_secrets', 'Stored secrets, by the version of the key that encrypts them.', [
    'key_version',
  ]);
  let warnedOf = '';

  /** A row that does not open is logged, and left to the operator; the others move. */
  function reencrypted(row: Row): readonly { readonly before: Row; readonly after: Row }[] {
    try {
      return [{ before: row, after: store.reencrypt(row) }];
    } catch (error) {
      logger.error({ err: error, id: row.id }, 'a stored secret does not open with the configured keys');
      return [];
    }
  }

  function opens(row: Row): boolean {
    try {
      store.open(row);
      return true;
    } catch {
      return false;
    }
  }

  async function verifyKeys(): Promise<void> {
    for (const version of versions) {
      const rows = await store.findUnder([version], null, TRIED_AT_START);
      if (rows.length === 0 || rows.some(opens)) continue;
      throw new WrongKeyError(
        `no stored secret under version ${version} of the key opens with the key that is configured for it: each change of the key raises ` +
          'its version (docs/operations/rotate-secrets.md)',
      );
    }
  }

  async function moveToCurrent(): Promise<void> {
    let moved = 0;
    for (let afterId: string | null = null; ; ) {
      const rows: readonly Row[] = await store.findUnder(former, afterId, ROWS_A_STATEMENT);
      const changes = rows.flatMap(reencrypted);
      if (changes.length > 0) moved += await store.replace(changes);
      if (rows.length < ROWS_A_STATEMENT) break;
      afterId = rows.at(-1)?.id ?? null;
    }
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
