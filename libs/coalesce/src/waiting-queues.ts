/**
 * The queues of a service's own work, and how long the first item of each has waited: the load
 * of the service, for an autoscaler. A wait is computed only when it is read.
 *
 * Queues are held weakly: one that is no longer used disappears.
 */
import { currentService } from '@laurel/topology/current-service';

export interface WaitingQueue {
  /** How long the oldest item has waited, in milliseconds; 0 when nothing waits. */
  readonly oldestWaitMs: number;
}

interface RegisteredQueue {
  readonly name: string;
  readonly service: string | undefined;
  readonly queue: WeakRef<WaitingQueue>;
}

const queues = new Set<RegisteredQueue>();

export function registerQueue(name: string, queue: WaitingQueue): void {
  queues.add({ name, service: currentService(), queue: new WeakRef(queue) });
}

/**
 * The longest wait of the service's queues by name, in milliseconds; queues may share a name.
 * Undefined means the only service of this process.
 */
export function oldestWaits(service: string | undefined): ReadonlyMap<string, number> {
  const waits = new Map<string, number>();
  for (const registered of queues) {
    const queue = registered.queue.deref();
    if (queue === undefined) queues.delete(registered);
    else if (registered.service === service)
      waits.set(registered.name, Math.max(waits.get(registered.name) ?? 0, queue.oldestWaitMs));
  }
  return waits;
}
