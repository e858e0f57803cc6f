/**
 * What a killed run leaves behind: its dockerd, the containers, networks and volumes of its stack,
 * their bridges, its mounted disks, and its folders. All their names contain the run's process id.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isRunning, removeLeftovers } from '@laurel/testing';

const run = promisify(execFile);

const ENGINE_PREFIX = 'laurel-engine-';
const STACK_PREFIX = 'laurel-compose-';
const PROJECT_PREFIX = 'laurel-test-';
/** Short, because Linux permits 15 characters in the name of an interface. */
const BRIDGE_PREFIX = 'lrl';
const INTERFACES = '/sys/class/net';
/** The file in an engine's folder that holds the engine's process id. */
export const ENGINE_PID_FILE = 'pid';
/** dockerd ends its containers first, and PostgreSQL may take a minute. */
const END_LIMIT_MS = 120_000;
const POLL_MS = 100;
const PROJECT_LABEL = 'com.docker.compose.project';
/**
 * Only containers made by Compose: others have the labels of their image, which an earlier run may
 * have built.
 */
const MADE_BY_COMPOSE = ['--filter', 'label=com.docker.compose.oneoff=False'];
/** Layers of builds that no run has used for a week. */
const BUILD_CACHE_LIFE = '168h';

export function newEngineFolder(): string {
  return mkdtempSync(join(tmpdir(), `${ENGINE_PREFIX}${process.pid}-`));
}

export function newStackFolder(): string {
  return mkdtempSync(join(tmpdir(), `${STACK_PREFIX}${process.pid}-`));
}

/** The name of this run's project of Docker Compose. */
export const COMPOSE_PROJECT = `${PROJECT_PREFIX}${process.pid}`;

/** The interface, on this machine, of one of the run's networks. */
export function bridgeName(number: number, pid = process.pid): string {
  return `${BRIDGE_PREFIX}${pid}-${number}`;
}

/** Ends the engines of finished runs, and removes their folders in `parent`. */
export async function removeOrphanedEngines(parent = tmpdir()): Promise<void> {
  const stop = async (folder: string) => {
    await endDockerd(folder);
    await unmountBelow(folder);
  };
  await removeLeftovers(ENGINE_PREFIX, stop, parent);
}

/**
 * Removes the leftovers of finished runs from the engine that the variables name, and the disks and
 * bridges that they left on this machine.
 */
export async function removeOrphanedStacks(environment: Readonly<Record<string, string>>): Promise<void> {
  for (const project of await orphanedProjects(dockerOf(environment))) await removeProject(project, environment);
  await removeLeftovers(STACK_PREFIX, unmountBelow);
  await removeOrphanedBridges();
}

/**
 * Removes everything of a project. Compose's `down` leaves what only another file of the project
 * names, such as the network of docker-compose.one-process.yml.
 */
export async function removeProject(project: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const docker = dockerOf(environment);
  const own = ['--filter', `label=${PROJECT_LABEL}=${project}`];
  const containers = await docker('ps', '--all', '--quiet', ...own, ...MADE_BY_COMPOSE);
  if (containers.length > 0) await docker('rm', '--force', '--volumes', ...containers);
  for (const kind of ['network', 'volume']) {
    const found = await docker(kind, 'ls', '--quiet', ...own);
    if (found.length > 0) await docker(kind, 'rm', ...found);
  }
}

/**
 * Removes the bridges of finished runs. A killed engine leaves them, and the next one does not know
 * them if the checkout was new: each would keep its addresses until the machine restarts.
 */
export async function removeOrphanedBridges(): Promise<void> {
  const present = await readdir(INTERFACES).catch(() => []);
  for (const bridge of present.filter(isOrphanedBridge)) await run('ip', ['link', 'delete', bridge]);
}

/** Whether the interface is a bridge of a finished run. */
export function isOrphanedBridge(name: string): boolean {
  const [, pid] = new RegExp(`^${BRIDGE_PREFIX}(\\d+)-\\d+$`).exec(name) ?? [];
  return pid !== undefined && !isRunning(Number(pid));
}

/**
 * Removes unnamed images, which a newer build has replaced, and old layers. Only for the run's own
 * engine.
 */
export async function pruneEngine(environment: Readonly<Record<string, string>>): Promise<void> {
  const docker = dockerOf(environment);
  await docker('image', 'prune', '--force');
  await docker('builder', 'prune', '--force', '--filter', `until=${BUILD_CACHE_LIFE}`);
}

/** Whether the project belongs to a finished run. */
export function isOrphaned(project: string): boolean {
  const [, pid] = new RegExp(`^${PROJECT_PREFIX}(\\d+)$`).exec(project) ?? [];
  return pid !== undefined && !isRunning(Number(pid));
}

type Docker = (...command: readonly string[]) => Promise<readonly string[]>;

/** Resolves with the lines that the command printed. */
function dockerOf(environment: Readonly<Record<string, string>>): Docker {
  return async (...command) => {
    const { stdout } = await run('docker', [...command], { env: { ...process.env, ...environment } });
    return stdout.split('\n').filter((line) => line !== '');
  };
}

async function orphanedProjects(docker: Docker): Promise<readonly string[]> {
  const names = ['--filter', `label=${PROJECT_LABEL}`, '--format', `{{.Label "${PROJECT_LABEL}"}}`];
  const found = [
    await docker('ps', '--all', ...names, ...MADE_BY_COMPOSE),
    await docker('network', 'ls', ...names),
    await docker('volume', 'ls', ...names),
  ];
  return [...new Set(found.flat())].filter(isOrphaned);
}

/** Ends the dockerd of a folder, which ends its containers. */
async function endDockerd(folder: string): Promise<void> {
  const pid = Number(await readFile(join(folder, ENGINE_PID_FILE), 'utf8').catch(() => 'NaN'));
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  // Process ids are reused: only a process that names this folder is its dockerd.
  const isThere = async () => (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(folder);
  if (!(await isThere())) return;
  signal(pid, 'SIGTERM');
  const deadline = Date.now() + END_LIMIT_MS;
  while (await isThere()) {
    if (Date.now() > deadline) signal(pid, 'SIGKILL');
    await delay(POLL_MS);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process ended meanwhile.
  }
}

/**
 * File systems mounted in the folder: a stack's disk, an engine's mounts for its containers, or
 * debootstrap's for its packages.
 */
export async function unmountBelow(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((mounted) => mounted.startsWith(`${folder}/`));
  // Later mounts may be inside earlier ones.
  for (const mounted of mounts.toReversed()) await run('umount', ['--lazy', mounted]);
}
