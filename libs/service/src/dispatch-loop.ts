/**
 * Leases what is due and runs it. A lease is the right to a run for a while. The caller's statement
 * takes the lease, the caller's slots limit how many runs there are at once
 * (libs/untrusted-url/src/fair-slots.ts), and the caller says what one run does.
 *
 *   wake    leases on the next turn of the event loop, so that one statement leases for all that
 *           this turn wakes
 *   lease   one statement at a time, again and again until no waiting work has a slot: the next
 *           statement leases for the slots that become free while one runs
 *   run     beside the loop and beside other runs; what frees a slot wakes the loop
 *
 * A lease that fails is logged, and the next one follows TRY_AGAIN_MS later, without another sweep.
 * Disposing the loop ends leasing, and waits for the statement and the runs that have begun. So
 * only a process that dies leaves a lease, which expires.
 */
import type { Logger } from './logger.ts';

export interface DispatchLoop extends AsyncDisposable {
  /** Signals that something may be due, or may have a slot. Never throws, never waits. */
  wake(): void;
  /** Resolves once nothing that waits has a slot, and every run that was begun has ended. */
  whenIdle(): Promise<void>;
  readonly isStopping: boolean;
}

/** The pause after a failure of the database. */
const TRY_AGAIN_MS = 500;

export function createDispatchLoop<Allocation>(options: {
  /** Names in the log what is leased, for example `sends`. */
  readonly name: string;
  readonly logger: Logger;
  /** Takes the slots of the work that may run now; empty if no waiting work may have a slot. */
  readonly allocate: () => readonly Allocation[];
  /**
   * Leases work for these slots, begins the runs and returns them. It gives back the slots that no
   * run has, even if it rejects. A run gives back its own slot, and never rejects.
   */
  readonly lease: (allocated: readonly Allocation[]) => Promise<readonly Promise<void>[]>;
}): DispatchLoop {
  const { name, logger, allocate, lease } = options;
  const runs = new Set<Promise<void>>();
  let leasing: Promise<void> | undefined;
  let isStopping = false;
  let endPause = () => {};

  function wake(): void {
    if (!isStopping) leasing ??= leaseAll();
  }

  async function leaseAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (!isStopping) {
      const allocated = allocate();
      if (allocated.length === 0) break;
      try {
        for (const run of await lease(allocated)) track(run);
      } catch (error) {
        logger.error({ err: error, allocated: allocated.length }, `${name} could not be leased`);
        await pause();
      }
    }
    // `leasing` is reset in the same turn as the last look at what waits, so that no later wake is
    // lost.
    leasing = undefined;
  }

  function track(run: Promise<void>): void {
    const ended = run.finally(() => runs.delete(ended));
    runs.add(ended);
  }

  async function pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, TRY_AGAIN_MS);
    endPause = resolve;
    await promise;
    clearTimeout(timer);
  }

  async function whenIdle(): Promise<void> {
    while (leasing !== undefined || runs.size > 0) await Promise.all([leasing, ...runs]);
  }

  return {
    wake,
    whenIdle,
    get isStopping() {
      return isStopping;
    },
    async [Symbol.asyncDispose]() {
      isStopping = true;
      endPause();
      await whenIdle();
    },
  };
}
