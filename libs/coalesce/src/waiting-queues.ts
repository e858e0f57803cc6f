/**
 * The queues of this process in which its own work waits for its turn, and how long the first of each has waited: the service's load as an
 * autoscaler reads it. A wait is computed when it is read; in between it costs nothing.
 *
 * A queue is held weakly: one that its owner has dropped is reported no more.
 */
export interface WaitingQueue {
  /** How long what has waited longest waits already, in milliseconds; 0 when nothing waits. */
  readonly oldestWaitMs: number;
}

const queues = new Set<{ readonly name: string; readonly queue: WeakRef<WaitingQueue> }>();

export function reportQueue(name: string, queue: WaitingQueue): void {
  queues.add({ name, queue: new WeakRef(queue) });
}

/** By the queue's name, in milliseconds; of queues with one name, the longest wait. */
export function oldestWaits(): ReadonlyMap<string, number> {
  const waits = new Map<string, number>();
  for (const reported of queues) {
    const queue = reported.queue.deref();
    if (queue === undefined) queues.delete(reported);
    else waits.set(reported.name, Math.max(waits.get(reported.name) ?? 0, queue.oldestWaitMs));
  }
  return waits;
}
