import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS } from '@laurel/service/node-flags';
import { endWithThisProcess } from './at-exit.ts';
import { NODE } from './checkout.ts';

const READY_DEADLINE_MS = 45_000;
const STOP_DEADLINE_MS = 12_000;
const STANDBY = fileURLToPath(new URL('./standby.ts', import.meta.url));

export interface ProcessShape {
  readonly name: string;
  readonly main: string;
  /** The flags of a service by default. */
  readonly nodeFlags?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** A module that is loaded before `main`. */
  readonly preload?: string | undefined;
  /**
   * The files that `main` imports. A second process loads these files and stands by (standby.ts).
   * The next start uses this process, so that a killed service is back without the time for
   * loading.
   */
  readonly standby?: readonly string[] | undefined;
  readonly readyUrl: string;
  readonly restart: boolean;
  /** Gets the output of the process; if undefined, `onLine` gets every line. */
  readonly logFile: string | undefined;
  readonly onLine: (line: string) => void;
}

/** A process of a service that a test starts, ends and starts again. */
export interface ManagedProcess {
  /**
   * Starts the process unless it runs. Resolves when the process is ready. Later starts keep the
   * changes.
   */
  start(changes?: {
    readonly environment?: Readonly<Record<string, string>> | undefined;
    readonly main?: string;
  }): Promise<void>;
  ready(): Promise<void>;
  /**
   * Signals the process and waits for its end. A stack with `restart` then starts the process
   * again.
   */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Ends the process, which stays down until `start`. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  onExit(): Promise<void>;
  pid(): number | undefined;
  dispose(): Promise<void>;
}

export function manageProcess(shape: ProcessShape): ManagedProcess {
  let child: ChildProcess | undefined;
  let standby: ChildProcess | undefined;
  let exited: Promise<number | null> = Promise.resolve(null);
  let isWanted = false;
  /**
   * The last lines of all starts. They are kept because a process that ends at once may print its
   * reason only at the first start.
   */
  const lastLines: string[] = [];
  let { environment, main } = shape;

  const spawnNode = (files: readonly string[], stdin: 'ignore' | 'pipe'): ChildProcess => {
    const output = shape.logFile === undefined ? 'pipe' : openSync(shape.logFile, 'a');
    const preload = shape.preload === undefined ? [] : ['--import', shape.preload];
    const flags = [...(shape.nodeFlags ?? NODE_FLAGS), '--disable-warning=ExperimentalWarning', ...preload];
    const spawned = spawn(NODE, [...flags, ...files], {
      // A service gets no other variable of the test runner's environment.
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_COMPILE_CACHE: join(tmpdir(), 'laurel-compile-cache'),
        ...environment,
      },
      stdio: [stdin, output, output],
    });
    if (typeof output === 'number') closeSync(output);
    endWithThisProcess(spawned);
    for (const stream of [spawned.stdout, spawned.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        lastLines.push(line);
        if (lastLines.length > 30) lastLines.shift();
        shape.onLine(line);
      });
    }
    return spawned;
  };

  const launch = (): void => {
    const started = takeStandby() ?? spawnNode([main], 'ignore');
    child = started;
    exited = new Promise((resolve) => {
      const ended = (code: number | null): void => {
        if (child === started) child = undefined;
        resolve(code);
        if (isWanted && shape.restart) launch();
      };
      started.once('exit', ended);
      started.once('error', () => ended(null));
    });
  };

  /**
   * Starts the process that stands by. Runs after each start, so that loading does not delay the
   * process that is needed now.
   */
  const prepareStandby = (): void => {
    if (shape.standby === undefined || standby !== undefined || !isWanted) return;
    standby = spawnNode([STANDBY, main, ...shape.standby], 'pipe');
    standby.on('error', ignore);
    // The standby may end before the byte that starts `main` is written.
    standby.stdin?.on('error', ignore);
  };

  /** Starts `main` in the process that stands by, if there is one. */
  const takeStandby = (): ChildProcess | undefined => {
    const taken = standby;
    standby = undefined;
    if (taken === undefined || taken.exitCode !== null || taken.signalCode !== null) return undefined;
    taken.stdin?.end('start');
    return taken;
  };

  const dropStandby = (): void => {
    standby?.kill('SIGKILL');
    standby = undefined;
  };

  const awaitReady = async (): Promise<void> => {
    const deadline = Date.now() + READY_DEADLINE_MS;
    while (Date.now() < deadline) {
      if (child === undefined && !shape.restart) break;
      if (await answersOk(shape.readyUrl)) {
        prepareStandby();
        return;
      }
      await delay(25);
    }
    throw new Error(`${shape.name} did not become ready; its last lines were:\n${lastLines.join('\n')}`);
  };

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = exited;
    const target = child;
    if (target === undefined) return ending;
    target.kill(signal);
    const late = setTimeout(() => target.kill('SIGKILL'), STOP_DEADLINE_MS);
    const code = await ending;
    clearTimeout(late);
    return code;
  };

  return {
    async start(changes = {}) {
      const { environment: settings = {}, main: file = main } = changes;
      // Ends the process that stands by, which was started with the previous settings and program.
      if (file !== main || Object.keys(settings).some((name) => settings[name] !== environment[name])) dropStandby();
      environment = { ...environment, ...settings };
      main = file;
      isWanted = true;
      if (child === undefined) launch();
      await awaitReady();
    },
    ready: awaitReady,
    end,
    async stop(signal = 'SIGTERM') {
      isWanted = false;
      return end(signal);
    },
    onExit: () => exited.then(ignore),
    pid: () => child?.pid,
    async dispose() {
      isWanted = false;
      dropStandby();
      await end('SIGTERM');
    },
  };
}

/**
 * Closes the connection after the response, because a stopping gateway waits a second for open
 * connections.
 */
async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function ignore(): void {}
