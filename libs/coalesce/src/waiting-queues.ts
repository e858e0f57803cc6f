/**
 * The queues of this process's own work, and how long the first item of each has waited: the load
 * of the service, for an autoscaler. A wait is computed only when it is read.
 *
 * Queues are held weakly: one that is no longer used disappears.
 */
export interface WaitingQueue {
  /** How long the oldest item has waited, in milliseconds; 0 when nothing waits. */
  readonly oldestWaitMs: number;
}

const queues = new Set<{ readonly name: string; readonly queue: WeakRef<WaitingQueue> }>();

export function reportQueue(name: string, queue: WaitingQueue): void {
  queues.add({ name, queue: new WeakRef(queue) });
}

/** The longest wait by queue name, in milliseconds; queues may share a name. */
export function oldestWaits(): ReadonlyMap<string, number> {
  const waits = new Map<string, number>();
  for (const reported of queues) {
    const queue = reported.queue.deref();
    if (queue === undefined) queues.delete(reported);
    else waits.set(reported.name, Math.max(waits.get(reported.name) ?? 0, queue.oldestWaitMs));
  }
  return waits;
}
