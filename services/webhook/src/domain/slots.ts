/**
 * Which endpoint may send next. A slot is the right to one send in flight: there are 128 in total and 4 for one endpoint, unless configured.
 * The health of endpoints decides which of them may have one (libs/untrusted-url/src/fair-slots.ts).
 * Any end but a 2xx makes an endpoint failing, and one that is failing or untried has 1 slot.
 *
 * Slots are allocated round-robin, one to each endpoint in turn, and an endpoint that got one moves to the end of the queue: while sends
 * end, no endpoint waits forever.
 */
import { createFairSlots, healthAfterSuccess, type KnownHealth } from '@laurel/untrusted-url';

/** An endpoint and the number of slots that it was allocated. */
export type Allocation = { readonly endpointId: string; readonly slots: number };

export function healthAfter(send: { readonly isSuccess: boolean; readonly durationMs: number }): KnownHealth {
  return send.isSuccess ? healthAfterSuccess(send.durationMs) : 'failing';
}

export type SlotLimits = { readonly sends: number; readonly sendsPerEndpoint: number };

/** The number of allocated slots that an endpoint uses, and whether it has nothing more that is due. */
export type Usage = { readonly used: number; readonly isDrained: boolean };

export interface Slots {
  /** The endpoint may have something due: it joins the queue, unless it is in it. */
  enqueue(endpointId: string): void;
  /** Allocates every slot that may be allocated. Until `releaseUnused` gets their usage, they count as used. */
  allocate(): readonly Allocation[];
  /**
   * Releases the allocated slots that are not used. An endpoint that is drained leaves the queue, unless it was enqueued since the
   * allocation.
   */
  releaseUnused(allocations: readonly Allocation[], usageOf: (allocation: Allocation) => Usage): void;
  /** A send has ended: releases its slot. */
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
