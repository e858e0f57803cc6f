/**
 * Whose turn it is on the one thread that reads bodies. Live bodies are read immediately. Those of test keys and of dry runs wait in a queue
 * for each subject, and are read one subject after the other, for TURN_MS at a time; then the event loop goes on, and with it whatever live
 * call has arrived. So a live body waits behind one body of a test key at most, however many of those there are.
 *
 * Limits     MAX_WAITING bodies of one subject wait, and more are refused immediately.
 * Invariants the bodies of a subject are read in their order; a subject that waits is read within one turn of each other one.
 */
import { QueueFullError } from '@laurel/coalesce';
import type { Tenant } from '@laurel/tenant';

export interface Turns {
  /** Rejects with what `work` throws. */
  run<Result>(tenant: Tenant, work: () => Result): Promise<Result>;
  /** The same of a developer who tries a descriptor out: as of a test key. */
  runDryRun<Result>(work: () => Result): Promise<Result>;
}

/** One large body takes longer, many small ones share a turn. */
const TURN_MS = 2;
const MAX_WAITING = 1_000;
const DRY_RUNS = 'dry runs';

/** `now` and `schedule` are the process's own unless a test gives others. */
export function createTurns({
  now = () => performance.now(),
  schedule = (turn) => void setImmediate(turn),
}: {
  readonly now?: () => number;
  readonly schedule?: (turn: () => void) => void;
} = {}): Turns {
  /** In the order of their turns; a subject without work is not in it. */
  const queues = new Map<string, (() => void)[]>();
  let isScheduled = false;

  function turn(): void {
    isScheduled = false;
    const endsAt = now() + TURN_MS;
    do {
      const [next] = queues;
      if (next === undefined) return;
      const [subject, queue] = next;
      queues.delete(subject);
      queue.shift()?.();
      if (queue.length > 0) queues.set(subject, queue);
    } while (now() < endsAt);
    scheduleTurn();
  }

  function scheduleTurn(): void {
    if (isScheduled || queues.size === 0) return;
    isScheduled = true;
    schedule(turn);
  }

  function wait<Result>(subject: string, work: () => Result): Promise<Result> {
    const queue = queues.get(subject) ?? [];
    if (queue.length >= MAX_WAITING) {
      return Promise.reject(new QueueFullError(`${queue.length} bodies of ${subject} are waiting already`));
    }
    queues.set(subject, queue);
    return new Promise((resolve, reject) => {
      queue.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      scheduleTurn();
    });
  }

  return {
    async run({ programId, environment }, work) {
      return environment === 'live' ? work() : await wait(programId, work);
    },
    runDryRun: (work) => wait(DRY_RUNS, work),
  };
}
