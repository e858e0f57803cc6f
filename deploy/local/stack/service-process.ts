/**
 * Starts and migrates the services of this stack for `npm start` and `npm run dev`, and restarts a
 * service when its sources change.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS, ONE_PROCESS_NODE_FLAGS } from '@laurel/service/node-flags';
import type { ServiceName } from '@laurel/topology';
import { joinEnvironments } from '@laurel/topology/one-process';
import type { ProcessShape, SupervisedProcess } from './supervisor.ts';
import { sourceFolders, watchSources } from './watch-sources.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/**
 * A URL, because `--import` takes one: it would read `#`, `?` and `%` in a path as parts of a URL.
 */
const EXIT_WITH_PARENT = new URL('exit-with-parent.mjs', import.meta.url).href;

/**
 * Plain data with everything that a process needs to run this service in place of another process,
 * secrets included.
 */
export interface ServiceLaunch {
  readonly name: string;
  /** The file that the process runs. */
  readonly main: string;
  /** The flags of Node; by default those that every service gets. */
  readonly nodeFlags?: readonly string[];
  readonly dataDir: string;
  readonly databaseVariable: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The environment of `src/migrate.ts`: the URL of the database's owner. */
  readonly migrationEnvironment: Readonly<Record<string, string>>;
  readonly readyUrl: string;
}

export function serviceProcess(
  launch: ServiceLaunch,
  options: Pick<ProcessShape, 'logFile' | 'readyLimitMs' | 'onPid'> & { readonly nodeArguments?: readonly string[] },
): ProcessShape {
  const { nodeArguments = [], ...rest } = options;
  const flags = [...(launch.nodeFlags ?? NODE_FLAGS), ...nodeArguments];
  return {
    ...rest,
    name: launch.name,
    file: process.execPath,
    // The last argument distinguishes the processes of two stacks.
    args: [...flags, '--import', EXIT_WITH_PARENT, launch.main, launch.dataDir],
    environment: launch.environment,
    workingDirectory: ROOT,
    holdsChannel: true,
    isReady: () => answersOk(launch.readyUrl),
  };
}

/**
 * A separate agent: `fetch` and the global agent would go through the user's proxy
 * (NODE_USE_ENV_PROXY).
 */
const DIRECT = new Agent();

async function answersOk(url: string): Promise<boolean> {
  const asked = get(url, { agent: DIRECT, signal: AbortSignal.timeout(2_000) });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode === 200;
}

/** Returns what one process needs to run all of these services; `adminPort` is the process's. */
export function joinLaunches(launches: ReadonlyMap<ServiceName, ServiceLaunch>, adminPort: number): ServiceLaunch {
  const [first] = launches.values();
  if (first === undefined) throw new Error('a process of no service');
  const environments = new Map(
    [...launches].map(
      ([
        name,
        {
          environment: { GRPC_PORT: _port, ...environment },
        },
      ]) => [name, environment],
    ),
  );
  return {
    ...first,
    name: 'one-process',
    main: join(ROOT, 'apps', 'one-process', 'src', 'main.ts'),
    nodeFlags: ONE_PROCESS_NODE_FLAGS,
    environment: { ...joinEnvironments(environments), ADMIN_PORT: String(adminPort) },
    readyUrl: `http://127.0.0.1:${adminPort}/readyz`,
  };
}

/** Migrates the service's database. Resolves to the output of the migrations if they failed. */
export async function migrateService({ name, migrationEnvironment }: ServiceLaunch): Promise<string | undefined> {
  const child = spawn(process.execPath, [join(ROOT, 'services', name, 'src', 'migrate.ts')], {
    cwd: ROOT,
    env: { ...migrationEnvironment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((done, reject) => {
    child.once('error', reject);
    child.once('close', done);
  });
  return code === 0 ? undefined : output.trimEnd();
}

/** Restarts the service when one of its sources changes. If migrations changed, they run first. */
export function restartOnChange(
  launch: ServiceLaunch,
  supervised: Pick<SupervisedProcess, 'restart' | 'isPaused'>,
  print: (line: string) => void,
): Disposable {
  return watchSources(sourceFolders(ROOT, launch.name), (files) => {
    // The process that took over the service watches the same files.
    if (supervised.isPaused()) return;
    const names = files.map((file) => relative(ROOT, file));
    const shown = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
    print(`${shown} changed: restarting ${launch.name} ...`);
    const migrated = files.some((file) => file.endsWith('.sql')) ? migrateService(launch) : Promise.resolve(undefined);
    void migrated.then((failure) => {
      if (failure === undefined) supervised.restart();
      else print(`${failure}\nThe database of ${launch.name} is unchanged, and so is the service: fix the migration.`);
    });
  });
}
