/**
 * Which endpoint may send next. A slot is the right to one send in flight; the configuration limits
 * the slots in total and per endpoint. An endpoint's health decides how many slots it may have
 * (libs/untrusted-url/src/fair-slots.ts). Any end but a 2xx makes an endpoint failing; a failing or
 * untried endpoint has 1 slot.
 *
 * Slots are allocated round-robin, and an endpoint that got one moves to the end of the queue. So
 * no endpoint waits forever while sends end.
 */
import { createFairSlots, healthAfterSuccess, type KnownHealth } from '@laurel/untrusted-url';

/** An endpoint and the number of slots that it was allocated. */
export type Allocation = { readonly endpointId: string; readonly slots: number };

export function healthAfter(send: { readonly isSuccess: boolean; readonly durationMs: number }): KnownHealth {
  return send.isSuccess ? healthAfterSuccess(send.durationMs) : 'failing';
}

export type SlotLimits = { readonly sends: number; readonly sendsPerEndpoint: number };

/** The numbers of slots, unless the configuration sets others. */
export const DEFAULT_SLOTS: SlotLimits = { sends: 128, sendsPerEndpoint: 4 };

/** How many allocated slots an endpoint uses, and whether it has nothing more due. */
export type SlotUsage = { readonly used: number; readonly isDrained: boolean };

export interface Slots {
  /** Queues the endpoint, which may have something due. Does nothing if it is queued already. */
  enqueue(endpointId: string): void;
  /**
   * Allocates every slot that may be allocated. The slots count as used until `releaseUnused` gets
   * their usage.
   */
  allocate(): readonly Allocation[];
  /**
   * Releases the allocated slots that are not used. A drained endpoint leaves the queue, unless it
   * was enqueued since the allocation.
   */
  releaseUnused(allocations: readonly Allocation[], usageOf: (allocation: Allocation) => SlotUsage): void;
  /** Releases the slot of a send that has ended. */
  release(endpointId: string, health: KnownHealth): void;
  /** Endpoints that may have something due. */
  readonly queued: number;
  /** Slots that are allocated or in use. */
  readonly inFlight: number;
}

export function createSlots({ sends, sendsPerEndpoint }: SlotLimits): Slots {
  const slots = createFairSlots({ total: sends, perSubject: sendsPerEndpoint, perDoubtfulSubject: 1 });
  // The endpoints in the order of their turns.
  const queue = new Set<string>();
  const enqueuedSinceAllocation = new Set<string>();

  return {
    enqueue(endpointId) {
      queue.add(endpointId);
      enqueuedSinceAllocation.add(endpointId);
    },

    allocate() {
      enqueuedSinceAllocation.clear();
      const allocated = new Map<string, number>();
      let round: readonly string[] = [...queue];
      while (round.length > 0 && slots.held < sends) {
        round = round.filter((endpointId) => slots.take(endpointId));
        for (const endpointId of round) {
          allocated.set(endpointId, (allocated.get(endpointId) ?? 0) + 1);
          queue.delete(endpointId);
          queue.add(endpointId);
        }
      }
      return [...allocated].map(([endpointId, count]) => ({ endpointId, slots: count }));
    },

    releaseUnused(allocations, usageOf) {
      for (const allocation of allocations) {
        const { endpointId } = allocation;
        const { used, isDrained } = usageOf(allocation);
        slots.giveBack(endpointId, allocation.slots - used);
        if (isDrained && !enqueuedSinceAllocation.has(endpointId)) queue.delete(endpointId);
      }
    },

    release: (endpointId, health) => slots.end(endpointId, health),

    get queued() {
      return queue.size;
    },
    get inFlight() {
      return slots.held;
    },
  };
}
