/** The containers of the stack under test, as the tests inspect and fault them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ContainersDescription } from './compose-stack.ts';

const run = promisify(execFile);

/** Names the file that describes the containers. */
export const CONTAINERS_VARIABLE = 'LAUREL_TEST_CONTAINERS';

export interface ContainerState {
  readonly id: string;
  /** The id, on this machine, of the container's first process. */
  readonly pid: number;
  readonly isRunning: boolean;
  readonly isHealthy: boolean;
  readonly isPaused: boolean;
  /**
   * The container has ended, and Docker does not start it again: a command stopped it, or a start
   * failed.
   */
  readonly hasExited: boolean;
  /** Docker's restarts since a command started it. */
  readonly restarts: number;
  /** The kernel ended the container's last run because it exceeded its memory limit. */
  readonly isOutOfMemory: boolean;
  /** The container's address in each network. */
  readonly networks: Readonly<Record<string, string>>;
}

export interface Containers {
  readonly description: ContainersDescription;
  /** Runs `docker`; resolves with its output. */
  docker(...command: readonly string[]): Promise<string>;
  /** The id of the container of a service of docker-compose.yml; it survives restarts. */
  idOf(name: string): Promise<string>;
  stateOf(name: string): Promise<ContainerState>;
}

export function openContainers(): Containers {
  const description: ContainersDescription = JSON.parse(readFileSync(process.env[CONTAINERS_VARIABLE] ?? '', 'utf8'));
  const env = { ...process.env, ...description.environment };
  const docker: Containers['docker'] = async (...command) => {
    const { stdout, stderr } = await run('docker', [...command], { env, maxBuffer: 2 ** 26 });
    // `docker logs` prints a container's output to the stream that the container used.
    return (command[0] === 'logs' ? stdout + stderr : stdout).trim();
  };
  const ids = new Map<string, string>();
  const idOf: Containers['idOf'] = async (name) => {
    const known = ids.get(name);
    if (known !== undefined) return known;
    const labels = [
      `com.docker.compose.project=${description.project}`,
      `com.docker.compose.service=${name}`,
      // The filter selects containers made by Compose: others have the labels of their image.
      'com.docker.compose.oneoff=False',
    ];
    const id = await docker('ps', '-aq', '--no-trunc', ...labels.flatMap((label) => ['--filter', `label=${label}`]));
    if (!/^[0-9a-f]{64}$/.test(id)) throw new Error(`the stack has not one container of ${name}: ${id}`);
    ids.set(name, id);
    return id;
  };
  return {
    description,
    docker,
    idOf,
    async stateOf(name) {
      const id = await idOf(name);
      const [{ State, RestartCount, NetworkSettings }] = JSON.parse(await docker('inspect', id));
      const networks = Object.entries<{ readonly IPAddress: string }>(NetworkSettings.Networks);
      return {
        id,
        pid: State.Pid,
        isRunning: State.Running && !State.Restarting,
        isHealthy: State.Health === undefined || State.Health.Status === 'healthy',
        isPaused: State.Paused,
        hasExited: State.Status === 'exited',
        restarts: RestartCount,
        isOutOfMemory: State.OOMKilled,
        networks: Object.fromEntries(networks.map(([network, { IPAddress }]) => [network, IPAddress])),
      };
    },
  };
}
