/**
 * A worker repeats one idempotent piece of work, such as sweeping expired attempts, by `runOnce`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { counter } from '@laurel/telemetry';
import type { Logger } from './logger.ts';

/**
 * Returns the time: the database's wherever a decision depends on it, or a test's. Throws while the
 * time is unknown.
 */
export type Clock = () => Date;

export interface Worker {
  readonly name: string;
  readonly intervalMs: number;
  readonly runOnce: (now: Date) => Promise<unknown>;
}

/**
 * Calls `runOnce` now, then `intervalMs` after each run has ended, so that no two overlap. It logs
 * and counts an error, and goes on. Disposing ends the wait and awaits a run under way.
 */
export function startWorker(options: Worker & { readonly logger: Logger; readonly clock: Clock }): AsyncDisposable {
  const { name, intervalMs, runOnce, logger, clock } = options;
  const runs = counter('laurel_worker_runs_total', 'Runs of background workers, by how they ended.', [
    'worker',
    'outcome',
  ]);
  // A series that begins at 1 shows no increase: without the 0 before it, an alert would miss the
  // first error.
  for (const outcome of ['ok', 'error']) runs.inc({ worker: name, outcome }, 0);
  const stop = new AbortController();

  const loop = async () => {
    while (!stop.signal.aborted) {
      try {
        await runOnce(clock());
        runs.inc({ worker: name, outcome: 'ok' });
      } catch (error) {
        runs.inc({ worker: name, outcome: 'error' });
        logger.error({ err: error, worker: name }, 'worker run failed');
      }
      await sleep(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };
  const ended = loop();

  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** Runs each worker once, one after the other: tests call it instead of waiting. */
export async function runEach(workers: readonly Worker[], clock: Clock): Promise<void> {
  for (const { runOnce } of workers) await runOnce(clock());
}
