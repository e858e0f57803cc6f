/**
 * The Docker engine of a run of `npm run test:compose`: the one that answers on this machine, or one of Debian's packages, which the run
 * installs, starts with a folder and a socket of its own, and ends.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fetchDebianProgram, keepProgram } from '@laurel/local-infrastructure/debian-program';
import { CHECKOUT } from '@laurel/testing';

const run = promisify(execFile);

/** What the run keeps for the next one: layers of images, stand-ins for base images, Compose. */
export const KEPT = join(CHECKOUT, 'node_modules/.cache/laurel/compose');

/** No engine can be had here; the message says why. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable';
}

export interface Engine extends AsyncDisposable {
  /** For `docker` and Compose. */
  readonly environment: Readonly<Record<string, string>>;
  /** The command that is Docker Compose, with its first arguments. */
  readonly compose: readonly [string, ...string[]];
}

/** The first version of Compose that reads docker-compose.yml and `!override`. */
const COMPOSE_VERSION = [2, 24, 4] as const;
/** The release of Debian with such a version. */
const COMPOSE_SUITE = 'trixie';
const DAEMON = '/usr/sbin/dockerd';
const START_LIMIT_MS = 60_000;
const FETCH_LIMIT_MS = 180_000;

/** Rejects with `EngineUnavailable` where there is none and none can be installed. */
export async function obtainEngine(print: (line: string) => void): Promise<Engine> {
  await using starting = new AsyncDisposableStack();
  const environment = (await isRunning({})) ? {} : starting.use(await startEngine(print)).environment;
  const compose = await obtainCompose(print);
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

async function startEngine(print: (line: string) => void) {
  if (process.getuid?.() !== 0) throw new EngineUnavailable('no Docker engine answers, and only root can start one');
  if (!existsSync(DAEMON)) {
    print("Installing Docker (Debian's packages) ...");
    await install(DAEMON, ['docker.io', 'iptables', 'debootstrap']).catch((error: unknown) => {
      throw new EngineUnavailable(`no Docker engine answers, and apt-get cannot install one: ${lastLine(error)}`);
    });
  }
  const folder = mkdtempSync(join(tmpdir(), 'laurel-engine-'));
  mkdirSync(join(KEPT, 'engine'), { recursive: true });
  const host = `unix://${folder}/docker.sock`;
  const log = join(folder, 'log');
  const daemon = spawn(
    DAEMON,
    [
      ...['--host', host, '--pidfile', join(folder, 'pid'), '--exec-root', join(folder, 'run')],
      ...['--data-root', join(KEPT, 'engine')],
    ],
    { stdio: ['ignore', openSync(log, 'a'), openSync(log, 'a')] },
  );
  const stop = () => end(daemon).finally(() => rmSync(folder, { recursive: true, force: true }));
  const environment = { DOCKER_HOST: host };
  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await isRunning(environment))) {
    if (daemon.exitCode !== null || Date.now() > deadline) {
      const why = readFileSync(log, 'utf8').trim().split('\n').at(-1);
      await stop();
      throw new EngineUnavailable(`Docker's engine does not start here: ${why}`);
    }
    await delay(200);
  }
  return { environment, [Symbol.asyncDispose]: stop };
}

/** Held by one installation on this machine at a time: apt waits for the lock of the installed packages, but not for that of the lists. */
const INSTALLATION_LOCK = '/var/cache/apt/laurel.lock';
/** Its arguments are the program that the packages bring, and the packages. A process that waited for the lock finds the program installed. */
const INSTALL = `set -e
[ ! -e "$1" ] || exit 0
shift
apt-get -q -o DPkg::Lock::Timeout=300 update
apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"`;

/** Installs the packages unless `program` is there, with the lists of packages that a fresh container does not have. */
export async function install(program: string, packages: readonly string[]): Promise<void> {
  await run('flock', [INSTALLATION_LOCK, 'sh', '-c', INSTALL, 'sh', program, ...packages], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 2 ** 26,
  });
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null) return;
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  await ended;
}

async function obtainCompose(print: (line: string) => void): Promise<readonly [string, ...string[]]> {
  const kept = join(KEPT, 'docker-compose');
  for (const command of [['docker', 'compose'] as const, [kept] as const]) {
    if (await isNewEnough(command)) return command;
  }
  print(`Fetching Docker Compose (Debian's package of ${COMPOSE_SUITE}) ...`);
  const wanted = { package: 'docker-compose', suite: COMPOSE_SUITE };
  const limit = AbortSignal.timeout(FETCH_LIMIT_MS);
  try {
    return [await keepProgram(kept, (folder) => fetchDebianProgram(wanted, folder, limit))];
  } catch (error) {
    throw new EngineUnavailable(`Docker Compose ${COMPOSE_VERSION.join('.')} cannot be fetched: ${lastLine(error)}`);
  }
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

/** Of what a failed command printed. */
export function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return text.trim().split('\n').at(-1) ?? 'it failed';
}
