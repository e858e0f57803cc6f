/**
 * A PostgreSQL server that archives its log, as in production. Its base backup is taken under load,
 * and it can be restored to an instant.
 */
import { execFile } from 'node:child_process';
import { chown, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { freePorts } from '@laurel/testing';
import pg from 'pg';
import { eventually } from '../world.ts';

export interface BackedUpServer extends AsyncDisposable {
  /** The superuser's address. A restore keeps it, with every role and password. */
  readonly url: string;
  /**
   * Takes the base backup for every restore while the server runs. Resolves with its size in bytes.
   */
  backUp(): Promise<number>;
  /**
   * Commits a transaction, which a restore to any earlier instant needs, and archives the log up to
   * it.
   */
  archiveAll(): Promise<void>;
  /**
   * Deletes the server's data, and starts it from the base backup and the archive: with exactly the
   * transactions committed until the instant, or with all archived ones. It archives nothing from
   * then on, so that it can be restored again.
   */
  restore(instant?: string): Promise<void>;
  /** How many bytes of log are archived. */
  archivedBytes(): Promise<number>;
}

/**
 * The data need not survive a power cut. Full pages are logged, because a base backup under load is
 * worthless without them.
 */
const SETTINGS = { fsync: 'off', full_page_writes: 'on', shared_buffers: '64MB' };

const execute = promisify(execFile);

/** Starts a server in a folder that holds its data, archive and base backup. */
export async function startBackedUpServer(directory: string): Promise<BackedUpServer> {
  const archive = join(directory, 'archive');
  const base = join(directory, 'base.tar');
  const data = dataDirectoryOf(directory);
  const cluster = join(data, 'cluster');
  const [port] = await freePorts(1);
  const start = (settings: Readonly<Record<string, string>>) =>
    startEmbeddedPostgres({
      dataDirectory: data,
      ...(port !== undefined && { port }),
      settings: { ...SETTINGS, ...settings },
      logFile: join(directory, 'log'),
    });

  await mkdir(archive, { recursive: true });
  let server: EmbeddedPostgres = await start({
    wal_level: 'replica',
    archive_mode: 'on',
    // A segment gets its name when it is complete; an existing one is never replaced.
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`,
  });
  const { uid, gid } = await stat(cluster);
  // So far the server's user could not write to the archive; PostgreSQL repeats what it could not
  // archive.
  await chown(archive, uid, gid);

  let label = '';
  return {
    url: server.superuserUrl,
    async backUp() {
      label = await withClient(server.superuserUrl, async (client) => {
        // The session that begins a backup must end it.
        await client.query(`select pg_backup_start('laurel', fast => true)`);
        await copyCluster(cluster, base);
        const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
        return rows[0]?.labelfile ?? '';
      });
      return (await stat(base)).size;
    },
    archiveAll: () =>
      withClient(server.superuserUrl, async (client) => {
        await client.query('create table if not exists archived (at timestamptz not null)');
        await client.query('insert into archived values (clock_timestamp())');
        const { rows } = await client.query<{ segment: string }>('select pg_walfile_name(pg_switch_wal()) as segment');
        await eventually(
          async () => (await readdir(archive)).includes(rows[0]?.segment ?? '') || undefined,
          'the log is archived',
          60_000,
        );
      }),
    async restore(instant) {
      await server.stop();
      await rm(cluster, { recursive: true, force: true });
      await mkdir(cluster, { mode: 0o700 });
      await execute('tar', ['--extract', '--preserve-permissions', '--file', base, '--directory', cluster]);
      await writeFile(join(cluster, 'backup_label'), label, { mode: 0o600 });
      await writeFile(join(cluster, 'recovery.signal'), '', { mode: 0o600 });
      await execute('chown', ['-R', `${uid}:${gid}`, cluster]);
      server = await start({
        archive_mode: 'off',
        restore_command: `cp ${archive}/%f %p`,
        recovery_target_action: 'promote',
        ...(instant !== undefined && { recovery_target_time: instant }),
        // The server accepts its first connection when the restore is complete.
        hot_standby: 'off',
      });
    },
    async archivedBytes() {
      const sizes = (await readdir(archive)).map(async (file) => (await stat(join(archive, file))).size);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** The folder with the server's data, inside the folder of `startBackedUpServer`. */
export function dataDirectoryOf(directory: string): string {
  return join(directory, 'server');
}

/**
 * Copies the files of a running server, except its log, which is archived, and the file that names
 * its process.
 */
async function copyCluster(cluster: string, file: string): Promise<void> {
  const left = ['./pg_wal/*', './postmaster.pid', './postmaster.opts'].map((path) => `--exclude=${path}`);
  try {
    await execute('tar', ['--create', '--file', file, ...left, '--directory', cluster, '.']);
  } catch (error) {
    // 1: a file changed or disappeared while it was read. The log has all changes since the backup
    // began.
    if (!(error instanceof Error && 'code' in error && error.code === 1)) throw error;
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
