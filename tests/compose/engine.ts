/**
 * The Docker engine for `npm run test:compose`: the one that runs on this machine, or Debian's
 * package, which the run installs, starts with a separate folder and socket, and ends.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  canUnpackDebian,
  fetchDebianProgram,
  isExecutable,
  keepProgram,
} from '@laurel/local-infrastructure/debian-program';
import { CHECKOUT } from '@laurel/testing';
import {
  ENGINE_PID_FILE,
  newEngineFolder,
  pruneEngine,
  removeOrphanedEngines,
  removeOrphanedStacks,
} from './leftovers.ts';

const run = promisify(execFile);

/**
 * The addresses of the networks. By default Docker has 31 for them, some of which the machine may
 * use; a stack needs 23. No machine's own network uses this range, the upper half of that for
 * device tests (RFC 2544).
 */
const ADDRESS_POOL = 'base=198.19.0.0/16,size=24';

/** What the run keeps for the next one: layers of images, stand-ins for base images, Compose. */
export const KEPT_FOLDER = join(CHECKOUT, 'node_modules/.cache/laurel/compose');

/**
 * Reports that this machine cannot have an engine; the message says why. A failed download or start
 * is another error, which fails the run.
 */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable';
}

/** Where the run prints, and what ends it early. */
export interface RunContext {
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Engine extends AsyncDisposable {
  /** The environment for `docker` and Compose. */
  readonly environment: Readonly<Record<string, string>>;
  /** Docker Compose's command, with its first arguments. */
  readonly compose: readonly [string, ...string[]];
}

/** The first version of Compose that reads docker-compose.yml and `!override`. */
const COMPOSE_VERSION = [2, 24, 4] as const;
/** The release of Debian with such a version. */
const COMPOSE_SUITE = 'trixie';
const DAEMON = '/usr/sbin/dockerd';
const START_LIMIT_MS = 60_000;
const FETCH_LIMIT_MS = 180_000;
const MAX_TRIES = 3;
const RETRY_PAUSE_MS = 5_000;

/**
 * Rejects with `EngineUnavailable` if there is no engine and none can be obtained. Removes the
 * leftovers of killed runs.
 */
export async function obtainEngine(context: RunContext): Promise<Engine> {
  await using starting = new AsyncDisposableStack();
  await removeOrphanedEngines();
  const own = (await isRunning({})) ? undefined : starting.use(await startEngine(context));
  const environment = own?.environment ?? {};
  await removeOrphanedStacks(environment);
  if (own !== undefined)
    await pruneEngine(environment).catch((error: unknown) =>
      context.print(`The engine keeps what it no longer needs: ${lastLine(error)}`),
    );
  const compose = await obtainCompose(context);
  const owned = starting.move();
  return { environment, compose, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function isRunning(environment: Readonly<Record<string, string>>): Promise<boolean> {
  const format = ['version', '--format', '{{.Server.Version}}'];
  return run('docker', format, { env: { ...process.env, ...environment } }).then(
    () => true,
    () => false,
  );
}

async function startEngine(context: RunContext) {
  const { print, signal } = context;
  if (process.getuid?.() !== 0) throw new EngineUnavailable('no Docker engine answers, and only root can start one');
  const folder = newEngineFolder();
  await using starting = new AsyncDisposableStack();
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  await expectMounts(folder);
  if (!existsSync(DAEMON)) {
    if (!isDebian()) throw new EngineUnavailable('no Docker engine answers, and only a Debian machine can install one');
    print("Installing Docker (Debian's packages) ...");
    await withRetries('The installation', context, () =>
      install(DAEMON, ['docker.io', 'iptables', 'iproute2', 'debootstrap']),
    );
  }
  signal.throwIfAborted();
  mkdirSync(join(KEPT_FOLDER, 'engine'), { recursive: true });
  const host = `unix://${folder}/docker.sock`;
  const log = join(folder, 'log');
  const daemon = spawn(
    DAEMON,
    [
      ...['--host', host, '--pidfile', join(folder, ENGINE_PID_FILE), '--exec-root', join(folder, 'run')],
      ...['--data-root', join(KEPT_FOLDER, 'engine'), '--default-address-pool', ADDRESS_POOL],
    ],
    // A terminal interrupts the run's whole group, but the run still needs its engine to remove the
    // stack.
    { stdio: ['ignore', openSync(log, 'a'), openSync(log, 'a')], detached: true },
  );
  starting.defer(() => end(daemon));
  const environment = { DOCKER_HOST: host };
  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await isRunning(environment))) {
    signal.throwIfAborted();
    if (daemon.exitCode !== null || Date.now() > deadline) {
      const why = readFileSync(log, 'utf8').trim().split('\n').at(-1);
      throw new Error(`Docker's engine did not start: ${why}`);
    }
    await delay(200);
  }
  const owned = starting.move();
  return { environment, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/**
 * An engine mounts its containers' file systems, which not even root may do everywhere, for example
 * in most containers.
 */
async function expectMounts(folder: string): Promise<void> {
  const probe = join(folder, 'probe');
  mkdirSync(probe);
  await mountTmpfs(probe, 'size=1m');
  await run('umount', [probe]);
}

/** Rejects with `EngineUnavailable` if this machine does not permit it. */
export async function mountTmpfs(folder: string, options: string): Promise<void> {
  // The messages are in English, whatever the machine speaks.
  const env = { ...process.env, LC_ALL: 'C' };
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { env }).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    throw new EngineUnavailable('file systems may not be mounted here');
  });
}

/** Whether the kernel, or mount itself, refused for lack of a privilege. */
function isForbidden(error: unknown): boolean {
  return /permission denied|operation not permitted|must be superuser/i.test(String(error));
}

function isDebian(): boolean {
  return canUnpackDebian({ searchPath: process.env.PATH ?? '', isExecutable });
}

/**
 * Held by one installation at a time on this machine. apt itself waits for the lock of the
 * installed packages, but not for the lock of the package lists.
 */
const INSTALLATION_LOCK = '/var/cache/apt/laurel.lock';
/**
 * The arguments are the program that the packages install, and the packages. A process that waited
 * for the lock finds the program installed.
 */
const INSTALL = `set -e
[ ! -e "$1" ] || exit 0
shift
apt-get -q -o DPkg::Lock::Timeout=300 update
apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"`;

/**
 * Installs the packages unless `program` exists. First fetches the package lists, which a new
 * container lacks.
 */
export async function install(program: string, packages: readonly string[]): Promise<void> {
  await run('flock', [INSTALLATION_LOCK, 'sh', '-c', INSTALL, 'sh', program, ...packages], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 2 ** 26,
  });
}

/** Repeats work that needs a mirror or a registry, which may fail for a moment. */
export async function withRetries<T>(what: string, { print, signal }: RunContext, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (tries === MAX_TRIES) throw new Error(`${what} failed: ${lastLine(error)}`, { cause: error });
      print(`${what} failed (${lastLine(error)}); trying again ...`);
      await delay(RETRY_PAUSE_MS, undefined, { signal });
    }
  }
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  await ended;
}

async function obtainCompose(context: RunContext): Promise<readonly [string, ...string[]]> {
  const kept = join(KEPT_FOLDER, 'docker-compose');
  for (const command of [['docker', 'compose'] as const, [kept] as const]) {
    if (await isNewEnough(command)) return command;
  }
  const wanted = `Docker Compose ${COMPOSE_VERSION.join('.')} or newer`;
  if (!isDebian()) throw new EngineUnavailable(`there is no ${wanted}, and only a Debian machine can fetch it`);
  context.print(`Fetching Docker Compose (Debian's package of ${COMPOSE_SUITE}) ...`);
  const fetched = await withRetries(`The download of ${wanted}`, context, () => {
    const limit = AbortSignal.any([context.signal, AbortSignal.timeout(FETCH_LIMIT_MS)]);
    return keepProgram(kept, (folder) =>
      fetchDebianProgram({ package: 'docker-compose', suite: COMPOSE_SUITE }, folder, limit),
    );
  });
  return [fetched];
}

async function isNewEnough([program, ...first]: readonly [string, ...string[]]): Promise<boolean> {
  const { stdout } = await run(program, [...first, 'version', '--short']).catch(() => ({ stdout: '' }));
  const found = stdout.trim().replace(/^v/, '').split(/[.+-]/).map(Number);
  if (!stdout) return false;
  for (const [index, needed] of COMPOSE_VERSION.entries()) {
    const part = found[index] ?? 0;
    if (part !== needed) return part > needed;
  }
  return true;
}

/** The last line that a failed command printed. */
export function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return text.trim().split('\n').at(-1) ?? 'it failed';
}
