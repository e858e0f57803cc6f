/** The faults of a deployment's containers. Each lasts until `heal`. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../world.ts';
import type { Containers } from './containers.ts';

const run = promisify(execFile);

export interface Fault {
  /** Completes a test's title after the name of the service: `is killed`. */
  readonly title: string;
  begin(containers: Containers, name: string): Promise<void>;
  /** Resolves when the fault has had an effect, if time alone does not show that. */
  felt?(containers: Containers, name: string): Promise<void>;
  /** Heals the fault, also one whose beginning failed halfway. */
  heal(containers: Containers, name: string): Promise<void>;
}

/** A container's start, its health check and the recovery of a database, on a busy machine. */
const RECOVERY_MS = 120_000;
/** Node and PostgreSQL need more to start, and NATS to store events. Docker's minimum is 6. */
const TOO_LITTLE_MIB = 8;
/** So many restarts show the lack of memory. Docker counts since the last start by a command. */
const RESTARTS_WITHOUT_MEMORY = 2;

const isKilled: Fault = {
  title: 'is killed and started again by Docker',
  async begin(containers, name) {
    // Between two runs a container has no process.
    const { pid, restarts } = await eventually(
      async () => {
        const state = await containers.stateOf(name);
        return state.isRunning && state.pid > 0 ? state : undefined;
      },
      `${name} runs`,
      RECOVERY_MS,
    );
    // `docker kill` counts as the operator's wish, after which Docker does not restart the
    // container.
    process.kill(pid, 'SIGKILL');
    await eventually(
      async () => (await containers.stateOf(name)).restarts > restarts || undefined,
      `Docker starts ${name} again`,
      RECOVERY_MS,
    );
  },
  heal: start,
};

const isPaused: Fault = {
  title: 'hangs',
  async begin({ docker, idOf }, name) {
    const id = await idOf(name);
    // The kernel cannot freeze a container in which a process is just starting, such as a health
    // check.
    const pause = () =>
      docker('pause', id).then(
        () => true,
        () => undefined,
      );
    await eventually(pause, `${name} is paused`, RECOVERY_MS);
  },
  async heal({ docker, stateOf }, name) {
    const { id, isPaused } = await stateOf(name);
    if (isPaused) await docker('unpause', id);
  },
};

/** The networks from which each container was cut off, with its address in each. */
const cut = new Map<string, Readonly<Record<string, string>>>();

const isCutOff: Fault = {
  title: 'loses its networks',
  async begin({ docker, stateOf }, name) {
    const { id, networks } = await stateOf(name);
    cut.set(name, networks);
    for (const network of Object.keys(networks)) await docker('network', 'disconnect', network, id);
  },
  async heal({ docker, stateOf }, name) {
    const { id, networks } = await stateOf(name);
    for (const [network, address] of Object.entries(cut.get(name) ?? {})) {
      if (network in networks) continue;
      // A container may get a fixed address only in a network with a fixed range.
      const fixed = name === 'postgres' && network.endsWith('_administration') ? ['--ip', address] : [];
      await docker('network', 'connect', '--alias', name, ...fixed, network, id);
    }
  },
};

const hasTooLittleMemory: Fault = {
  title: 'has too little memory, and ends again and again',
  async begin(containers, name) {
    const { docker, idOf, stateOf } = containers;
    const id = await idOf(name);
    await docker('stop', '--time', '0', id);
    const limit = `${TOO_LITTLE_MIB}m`;
    await docker('update', '--memory', limit, '--memory-swap', limit, id);
    // The kernel may end the container before Docker has seen it run.
    await docker('start', id).catch(() => {});
    // If a container runs for as long as the wait, the kernel does not enforce the limit.
    const hasFelt = async () => {
      const { restarts, isOutOfMemory, hasExited } = await stateOf(name);
      return isOutOfMemory || hasExited || restarts >= RESTARTS_WITHOUT_MEMORY || undefined;
    };
    await eventually(hasFelt, `the limit of its memory ends ${name}`, RECOVERY_MS);
  },
  async heal({ docker, idOf }, name) {
    const id = await idOf(name);
    await docker('stop', '--time', '0', id);
    await docker('update', '--memory', '1g', '--memory-swap', '1g', id);
    await docker('start', id);
  },
};

const isRestarted: Fault = {
  title: 'is restarted',
  async begin({ docker, idOf }, name) {
    await docker('restart', await idOf(name));
  },
  heal: start,
};

/** The faults of every container of the stack. */
export const FAULTS: readonly Fault[] = [isKilled, isPaused, isCutOff, hasTooLittleMemory, isRestarted];

/** The time when the disk of each container became full. */
const fullSince = new Map<string, string>();

/**
 * The log line that shows a server's full disk. PostgreSQL logs the problem itself. NATS logs it or
 * hangs silently, and the services that publish to NATS log either case.
 */
const SYMPTOMS: Readonly<Record<string, { readonly container: string; readonly line: RegExp }>> = {
  postgres: { container: 'postgres', line: /no space left/i },
  nats: { container: 'challenge', line: /events could not be published/ },
};

/** The fault of the servers with a disk. */
export const DISK_IS_FULL: Fault = {
  title: 'has a full disk',
  async begin({ description }, name) {
    await fillDisk(description.disks, name);
    fullSince.set(name, new Date().toISOString());
  },
  async felt({ docker, idOf, description }, name) {
    const { container = '', line = /^$/ } = SYMPTOMS[name] ?? {};
    const id = await idOf(container);
    const isShown = async () => {
      // Fills the disk again each time: otherwise the server could use space that it freed
      // meanwhile.
      await fillDisk(description.disks, name);
      return line.test(await docker('logs', '--since', fullSince.get(name) ?? '', id)) || undefined;
    };
    await eventually(isShown, `${container} shows that ${name} has no space`, RECOVERY_MS);
  },
  async heal(containers, name) {
    rmSync(ballastOf(containers.description.disks, name), { force: true });
    // PostgreSQL recovers by itself; NATS must be ended (docs/operations/full-disk.md, "NATS").
    if (name === 'nats') await isKilled.begin(containers, name);
  },
};

/** Changes nothing if the container runs, or Docker is about to restart it. */
async function start({ docker, idOf }: Containers, name: string): Promise<void> {
  await docker('start', await idOf(name));
}

/** Fills the free space. */
async function fillDisk(disks: Readonly<Record<string, string>>, name: string): Promise<void> {
  const ballast = ballastOf(disks, name);
  // dd ends with an error when nothing more fits.
  await run('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k', 'oflag=append', 'conv=notrunc']).catch(() => {});
}

function ballastOf(disks: Readonly<Record<string, string>>, name: string): string {
  return join(disks[name] ?? '', 'ballast');
}

/** Resolves when the container runs and its health check has passed. */
export async function waitUntilWell({ stateOf }: Containers, name: string, limitMs = RECOVERY_MS): Promise<void> {
  await eventually(
    async () => {
      const { isRunning, isHealthy } = await stateOf(name);
      return (isRunning && isHealthy) || undefined;
    },
    `${name} is well`,
    limitMs,
  );
}
