/** A worker repeats one idempotent piece of work, for example sweeping expired attempts. All it does is call `runOnce`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { counter } from '@laurel/telemetry';
import type { Logger } from './logger.ts';

/** Returns the time, of the database wherever a decision depends on it; tests control it. Throws where the time is unknown. */
export type Clock = () => Date;

export interface Worker {
  readonly name: string;
  readonly intervalMs: number;
  readonly runOnce: (now: Date) => Promise<unknown>;
}

/**
 * Calls `runOnce` immediately and then `intervalMs` after each call has ended, so that two never overlap. An error is logged and counted,
 * and the next call follows as usual. Disposing ends the wait immediately and waits for a running call.
 */
export function startWorker(options: Worker & { readonly logger: Logger; readonly clock: Clock }): AsyncDisposable {
  const { name, intervalMs, runOnce, logger, clock } = options;
  const runs = counter('laurel_worker_runs_total', 'Runs of background workers, by how they ended.', [
    'worker',
    'outcome',
  ]);
  // A series that begins at 1 has not increased: without the 0 before it, an alert would miss the first error.
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

/** One run of each worker, one after the other: tests call it instead of waiting. */
export async function runEach(workers: readonly Worker[], clock: Clock): Promise<void> {
  for (const { runOnce } of workers) await runOnce(clock());
}
