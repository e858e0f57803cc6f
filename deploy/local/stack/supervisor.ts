import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openLog } from './logs.ts';
import { StartFailure } from './start-failure.ts';

// A supervised process is always in one of these states:
//   starting  it runs, and has not been ready since it was started
//   ready     it was ready once since its start; once steady, its back-off is reset
//   waiting   it died; it is started again after the back-off
//   paused    it was ended so that another process can replace it; `resume` starts it again
//   ended     it ended for good: it was stopped, or was never ready and the supervisor gave up
// A process that dies goes from starting or ready to waiting, and then to starting.
// `restart` leads to starting and `pause` to paused, each from the first three states.
// `stop` leads from every state to ended.

/** The supervisor's settings of a process. */
export interface ProcessShape {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** The file that gets the output; by default the terminal of this process does. */
  readonly logFile?: string;
  /**
   * Opens an IPC channel. When it closes, the process knows that the launcher has exited
   * (exit-with-parent.mjs).
   */
  readonly holdsChannel: boolean;
  /** The supervisor calls this every 50 ms until it resolves to true. */
  readonly isReady: () => Promise<boolean>;
  /** A process that is not ready after this time is killed. One minute by default. */
  readonly readyLimitMs?: number;
  readonly onPid: (name: string, pid: number | undefined) => void;
}

export interface SupervisedProcess {
  readonly name: string;
  /**
   * Resolves when the process is ready for the first time. Rejects when the supervisor gives up.
   */
  readonly firstReady: Promise<void>;
  /**
   * Ends the process and starts it again immediately. Does nothing if the process is paused or
   * stopped.
   */
  restart(): void;
  /** Ends the process as `stop` does, until `resume`. Resolves when it has exited. */
  pause(): Promise<void>;
  resume(): void;
  isPaused(): boolean;
  /**
   * Sends SIGTERM, and SIGKILL once a drain would have ended. Resolves when the process has exited.
   */
  stop(): Promise<void>;
}

const READY_POLL_MS = 50;
const READY_LIMIT_MS = 60_000;
/**
 * How often a process that was never ready is started: a wrong configuration does not repair
 * itself.
 */
const FIRST_LIVES = 3;
/** The limit is longer than the 10 s that a service gives itself to drain. */
const STOP_LIMIT_MS = 12_000;
const STEADY_MS = 30_000;

/** 0.25 s after the first death, doubled after each further one, at most 15 s. */
export function restartDelayMs(deathsInARow: number): number {
  return Math.min(250 * 2 ** (Math.max(1, deathsInARow) - 1), 15_000);
}

export function supervise(shape: ProcessShape, print: (line: string) => void): SupervisedProcess {
  let child: ChildProcess | undefined;
  let intent: 'run' | 'pause' | 'stop' = 'run';
  /** A restart was requested: the process is being ended and will be started again. */
  let isRestarting = false;
  let wasReady = false;
  let deathsInARow = 0;
  let wait = new AbortController();
  let life: Promise<string> | undefined;
  const firstReady = Promise.withResolvers<void>();
  // The caller may stop the process before it awaits this, and then the rejection must not be
  // unhandled.
  firstReady.promise.catch(() => undefined);
  const gone = Promise.withResolvers<void>();
  const isIntended = (asked: typeof intent) => intent === asked;
  const isEnding = () => isRestarting || !isIntended('run');

  /** One run of the process, from spawn to exit. Resolves to a description of its exit. */
  const runOnce = async (): Promise<string> => {
    const started = spawnProcess(shape, print);
    child = started;
    shape.onPid(shape.name, started.pid);
    const exited = new Promise<string>((resolve) => {
      started.once('error', (error) => resolve(error.message));
      started.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    const becameReady = watchReadiness(started);
    const ending = await exited;
    child = undefined;
    shape.onPid(shape.name, undefined);
    await becameReady;
    return ending;
  };

  const watchReadiness = async (started: ChildProcess): Promise<void> => {
    const deadline = Date.now() + (shape.readyLimitMs ?? READY_LIMIT_MS);
    while (child === started && !isEnding()) {
      if (await shape.isReady().catch(() => false)) {
        if (child !== started || isEnding()) return;
        if (wasReady) print(`${shape.name} is ready again (pid ${started.pid}).`);
        wasReady = true;
        firstReady.resolve();
        const timer = setTimeout(() => {
          if (child === started) deathsInARow = 0;
        }, STEADY_MS);
        timer.unref();
        return;
      }
      if (Date.now() > deadline) {
        started.kill('SIGKILL');
        return;
      }
      await delay(READY_POLL_MS);
    }
  };

  /**
   * Counts a death and waits for the back-off. Throws when a process that was never ready has used
   * all its starts.
   */
  const backOff = async (ending: string): Promise<void> => {
    deathsInARow += 1;
    if (!wasReady && deathsInARow >= FIRST_LIVES) {
      const output = shape.logFile === undefined ? '' : lastLines(shape.logFile, 8);
      if (output !== '') print(output);
      const where = shape.logFile === undefined ? '' : `; all of them are in ${shape.logFile}`;
      throw new StartFailure(`${shape.name} does not start (${ending}): see its last lines above${where}.`);
    }
    const pause = restartDelayMs(deathsInARow);
    const where = shape.logFile === undefined ? '' : ` Its log: ${shape.logFile}`;
    print(`${shape.name} ended by itself (${ending}); starting it again in ${pause / 1000} s.${where}`);
    await delay(pause, undefined, { signal: wait.signal }).catch(() => undefined);
  };

  const run = async (): Promise<void> => {
    for (;;) {
      wait = new AbortController();
      if (isIntended('stop')) return;
      if (isIntended('pause')) {
        await once(wait.signal, 'abort');
        continue;
      }
      isRestarting = false;
      life = runOnce();
      const ending = await life;
      if (isRestarting) deathsInARow = 0;
      if (!isEnding()) await backOff(ending);
    }
  };

  /**
   * Makes `run` continue with another intent: ends the running process, or cuts the back-off short.
   * Resolves when no process is left.
   */
  const interrupt = async (): Promise<void> => {
    wait.abort();
    if (child !== undefined) endProcess(shape.name, child, print);
    await life;
  };

  run()
    .catch((error: unknown) => firstReady.reject(error))
    .finally(() => {
      intent = 'stop';
      firstReady.reject(new StartFailure(`${shape.name} was stopped before it was ready.`));
      gone.resolve();
    });

  return {
    name: shape.name,
    firstReady: firstReady.promise,
    restart() {
      if (!isIntended('run')) return;
      isRestarting = true;
      deathsInARow = 0;
      void interrupt();
    },
    async pause() {
      if (isIntended('run')) intent = 'pause';
      await interrupt();
    },
    resume() {
      if (!isIntended('pause')) return;
      intent = 'run';
      wait.abort();
    },
    isPaused: () => isIntended('pause'),
    async stop() {
      intent = 'stop';
      void interrupt();
      await gone.promise;
    },
  };
}

function spawnProcess(shape: ProcessShape, print: (line: string) => void): ChildProcess {
  const log = shape.logFile === undefined ? 'inherit' : openLog(shape.logFile, print);
  const started = spawn(shape.file, shape.args, {
    cwd: shape.workingDirectory,
    env: { ...shape.environment },
    // A separate process group: Ctrl-C in the terminal reaches only the launcher, which stops
    // everything in order.
    detached: true,
    stdio: shape.holdsChannel ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
  });
  if (typeof log === 'number') closeSync(log);
  return started;
}

function endProcess(name: string, running: ChildProcess, print: (line: string) => void): void {
  running.kill('SIGTERM');
  const late = setTimeout(() => {
    print(`${name} did not stop within ${STOP_LIMIT_MS / 1000} s and was killed.`);
    running.kill('SIGKILL');
  }, STOP_LIMIT_MS);
  running.once('exit', () => clearTimeout(late));
}

function lastLines(file: string, count: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}
