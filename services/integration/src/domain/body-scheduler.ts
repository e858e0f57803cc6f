/**
 * Whose body the one thread reads next. Live bodies are read immediately. Bodies of test keys and
 * of dry runs wait in a queue per subject. A turn reads them for TURN_MS, one body of each subject
 * after the other; then the event loop serves whatever live call has arrived. So a live body waits
 * behind at most one body of a test key, however many of those wait.
 *
 * Limits      MAX_WAITING_BODIES bodies of one subject wait; more are refused immediately.
 * Invariants  a subject's bodies are read in order; a waiting subject is read after at most one
 *             body of each other subject.
 */
import { QueueFullError } from '@laurel/coalesce';
import type { Tenant } from '@laurel/values/tenant';

export interface BodyScheduler {
  /** Rejects with what `work` throws. */
  run<Result>(tenant: Tenant, work: () => Result): Promise<Result>;
  /** `run` for a developer who tries out a descriptor: waits as a body of a test key does. */
  runDryRun<Result>(work: () => Result): Promise<Result>;
}

/** A large body may take longer; many small ones share a turn. */
const TURN_MS = 2;
const MAX_WAITING_BODIES = 1_000;
const DRY_RUNS = 'dry runs';

/** `now` and `schedule` are the process's own functions unless a test passes others. */
export function createBodyScheduler({
  now = () => performance.now(),
  schedule = (turn) => void setImmediate(turn),
}: {
  readonly now?: () => number;
  readonly schedule?: (turn: () => void) => void;
} = {}): BodyScheduler {
  /** The subjects in the order of their turns. A subject without work is not in the map. */
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
    if (queue.length >= MAX_WAITING_BODIES) {
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
