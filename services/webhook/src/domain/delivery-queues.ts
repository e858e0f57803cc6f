/**
 * Live and test deliveries wait in separate queues. Each environment has all slots for itself
 * (slots.ts): the total, the shares and the health of an endpoint are counted per environment. So
 * whatever test keys send, a live delivery does not wait for it. A test event that a developer
 * requests waits in the queue of `test`.
 */

import type { KnownHealth } from '@laurel/untrusted-url';
import { ENVIRONMENTS, type Environment } from '@laurel/values/tenant';
import type { NewDelivery } from './delivery.ts';
import { type Allocation, createSlots, type SlotLimits, type SlotUsage } from './slots.ts';

/** The deliveries to an endpoint in one environment. */
export type DeliveryQueue = { readonly endpointId: string; readonly environment: Environment };

/** A queue and the number of slots that it was allocated. */
export type QueueAllocation = DeliveryQueue & Allocation;

/** The queue of a delivery. */
export function queueOf({ endpointId, tenant }: Pick<NewDelivery, 'endpointId' | 'tenant'>): DeliveryQueue {
  return { endpointId, environment: tenant?.environment ?? 'test' };
}

export function queueKeyOf({ endpointId, environment }: DeliveryQueue): string {
  return `${environment} ${endpointId}`;
}

/** `Slots` for the queues of both environments. Each environment has the full limits. */
export interface QueueSlots {
  enqueue(queue: DeliveryQueue): void;
  allocate(): readonly QueueAllocation[];
  releaseUnused(allocations: readonly QueueAllocation[], usageOf: (allocation: QueueAllocation) => SlotUsage): void;
  release(queue: DeliveryQueue, health: KnownHealth): void;
  readonly queued: number;
  readonly inFlight: number;
}

export function createQueueSlots(limits: SlotLimits): QueueSlots {
  const slots = { live: createSlots(limits), test: createSlots(limits) };

  return {
    enqueue: ({ endpointId, environment }) => slots[environment].enqueue(endpointId),
    allocate: () =>
      ENVIRONMENTS.flatMap((environment) =>
        slots[environment].allocate().map((allocation) => ({ ...allocation, environment })),
      ),
    releaseUnused(allocations, usageOf) {
      for (const environment of ENVIRONMENTS) {
        const own = allocations.filter((allocation) => allocation.environment === environment);
        slots[environment].releaseUnused(own, (allocation) => usageOf({ ...allocation, environment }));
      }
    },
    release: ({ endpointId, environment }, health) => slots[environment].release(endpointId, health),
    get queued() {
      return slots.live.queued + slots.test.queued;
    },
    get inFlight() {
      return slots.live.inFlight + slots.test.inFlight;
    },
  };
}
