import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { StartFailure } from './start-failure.ts';

// One supervised process is, at any time, in one of these states:
//   starting  it runs, and has not answered as ready in this life
//   ready     it answered as ready; the back-off begins anew once it has been ready for a while
//   waiting   it ended without being told to; it is started again when the back-off has passed
//   stopping  it was told to end; nothing starts it again
//   ended     it is gone for good: it was stopped, or it never became ready and was given up
// starting -> ready -> waiting -> starting is the circle of a process that dies; `stop` leads out of every state.

/** What the supervisor must know of a process. */
export interface ProcessShape {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly logFile: string;
  /** Opens an IPC channel, whose end tells the process that the launcher is gone (exit-with-parent.mjs). */
  readonly holdsChannel: boolean;
  /** Asked every 50 ms until it says yes. */
  readonly isReady: () => Promise<boolean>;
  readonly onPid: (name: string, pid: number | undefined) => void;
}

export interface SupervisedProcess {
  readonly name: string;
  /** Resolves when the process is ready for the first time; rejects when it is given up. */
  readonly firstReady: Promise<void>;
  /** SIGTERM, and SIGKILL if it takes longer than a drain may. Resolves when the process is gone. */
  stop(): Promise<void>;
  /** SIGKILL, without waiting. */
  kill(): void;
}

const READY_POLL_MS = 50;
const READY_LIMIT_MS = 60_000;
/** Before it was ever ready a process gets this many lives: a fault of the configuration does not heal. */
const FIRST_LIVES = 3;
/** Longer than the 10 s that a service gives itself to drain. */
const STOP_LIMIT_MS = 12_000;
const STEADY_MS = 30_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** 0.25 s after the first death, doubled with each further one, at most 15 s. */
export function restartDelayMs(deathsInARow: number): number {
  return Math.min(250 * 2 ** (Math.max(1, deathsInARow) - 1), 15_000);
}

export function supervise(shape: ProcessShape, say: (line: string) => void): SupervisedProcess {
  let child: ChildProcess | undefined;
  let state: 'starting' | 'ready' | 'waiting' | 'stopping' | 'ended' = 'starting';
  let wasReady = false;
  let deathsInARow = 0;
  const waiting = new AbortController();
  const firstReady = Promise.withResolvers<void>();
  // Whoever starts the stack awaits it; a stop before that must not end as an unhandled rejection.
  firstReady.promise.catch(() => undefined);
  const gone = Promise.withResolvers<void>();
  const isStopping = () => state === 'stopping';

  /** One life of the process, from spawn to exit; answers how it ended. */
  const live = async (): Promise<string> => {
    state = 'starting';
    rotateLog(shape.logFile);
    const log = openSync(shape.logFile, 'a', 0o600);
    const started = spawn(shape.file, shape.args, {
      cwd: shape.workingDirectory,
      env: { ...shape.environment },
      // A group of its own: Ctrl-C in the terminal reaches the launcher alone, which stops everything in order.
      detached: true,
      stdio: shape.holdsChannel ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    });
    closeSync(log);
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

  const watchReadiness = async (life: ChildProcess): Promise<void> => {
    const deadline = Date.now() + READY_LIMIT_MS;
    while (child === life && !isStopping()) {
      if (await shape.isReady().catch(() => false)) {
        if (child !== life || isStopping()) return;
        state = 'ready';
        if (wasReady) say(`${shape.name} is ready again (pid ${life.pid}).`);
        wasReady = true;
        firstReady.resolve();
        const timer = setTimeout(() => {
          if (child === life) deathsInARow = 0;
        }, STEADY_MS);
        timer.unref();
        return;
      }
      if (Date.now() > deadline) {
        life.kill('SIGKILL');
        return;
      }
      await delay(READY_POLL_MS);
    }
  };

  const run = async (): Promise<void> => {
    for (;;) {
      const ending = await live();
      if (isStopping()) return;
      deathsInARow += 1;
      if (!wasReady && deathsInARow >= FIRST_LIVES) {
        const words = lastLines(shape.logFile, 8);
        if (words !== '') say(words);
        throw new StartFailure(
          `${shape.name} does not start (${ending}): mend what its last lines above say; all of them are in ${shape.logFile}.`,
        );
      }
      const pause = restartDelayMs(deathsInARow);
      state = 'waiting';
      say(
        `${shape.name} ended by itself (${ending}); starting it again in ${pause / 1000} s. Its log: ${shape.logFile}`,
      );
      await delay(pause, undefined, { signal: waiting.signal }).catch(() => undefined);
      if (isStopping()) return;
    }
  };

  run()
    .catch((error: unknown) => firstReady.reject(error))
    .finally(() => {
      state = 'ended';
      firstReady.reject(new StartFailure(`${shape.name} was stopped before it was ready.`));
      gone.resolve();
    });

  return {
    name: shape.name,
    firstReady: firstReady.promise,
    async stop() {
      if (state !== 'ended') state = 'stopping';
      waiting.abort();
      child?.kill('SIGTERM');
      const late = setTimeout(() => {
        say(`${shape.name} did not stop within ${STOP_LIMIT_MS / 1000} s and was killed.`);
        child?.kill('SIGKILL');
      }, STOP_LIMIT_MS);
      await gone.promise;
      clearTimeout(late);
    },
    kill() {
      if (state !== 'ended') state = 'stopping';
      waiting.abort();
      child?.kill('SIGKILL');
    },
  };
}

/** A log that has grown large becomes the one previous log; so a service never keeps more than two files. */
export function rotateLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
}

function lastLines(file: string, count: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}
