/**
 * A database as an earlier release left it. Some rows that a migration repairs can only be written
 * before that migration runs.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createDatabase, type Database } from '@laurel/postgres';
import { migrate } from '@laurel/postgres/migrate';
import { createTestDatabase } from './test-database.ts';

export interface OlderDatabase extends AsyncDisposable {
  /** Connected as a superuser. */
  readonly database: Database;
  /** Applies all migrations that are missing. */
  migrate(): Promise<void>;
}

/**
 * Creates a database with the migrations before the named migration. The name is a number, such as
 * `0006`.
 */
export async function createDatabaseBefore(options: {
  readonly migrations: URL;
  readonly before: string;
}): Promise<OlderDatabase> {
  const { migrations, before } = options;
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'laurel-migrations-'));
  stack.defer(() => rmSync(directory, { recursive: true }));
  for (const file of readdirSync(migrations).filter((name) => name < before)) {
    cpSync(new URL(file, migrations), join(directory, file));
  }
  const { url } = stack.use(await createTestDatabase({ migrations: pathToFileURL(`${directory}/`) }));
  const database = stack.use(createDatabase({ url, maxConnections: 1, applicationName: 'migration-test' }));
  const resources = stack.move();
  return {
    database,
    async migrate() {
      await migrate({ url, directory: migrations });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
