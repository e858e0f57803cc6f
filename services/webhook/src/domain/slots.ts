/**
 * Which endpoint may send next. A slot is the right to one send in flight: there are 128 in total and 4 for one endpoint, unless configured.
 * The one rule is that a slow or dead endpoint does not delay another one: a dead endpoint holds each of its slots for the whole timeout.
 *
 * An endpoint's share depends on its health, which is how its last send in this process ended:
 *   proven    answered 2xx within a second: up to 4 slots, of all slots
 *   slow      answered 2xx later: up to 4 slots, while slow and failing endpoints together hold less than half of all slots
 *   failing   ended in any other way: 1 slot, on the same condition
 *   untried   no send has ended yet: 1 slot, while all but the proven endpoints together hold less than 7/8 of all slots
 * So slow and dead endpoints, however many, leave half of the slots to the others, and all that are not proven leave an eighth to the proven
 * ones. Untried endpoints have a larger share than failing ones because to a new process every endpoint is untried: if they shared that
 * half, as many dead endpoints as it has slots would delay every healthy one for a whole timeout.
 *
 * Slots are allocated round-robin, one to each endpoint in turn, and an endpoint that got one moves to the end of the queue: while sends
 * end, no endpoint waits forever.
 */

/** An endpoint and the number of slots that it was allocated. */
export type Allocation = { readonly endpointId: string; readonly slots: number };

export type EndpointHealth = 'proven' | 'slow' | 'failing' | 'untried';

/** The health of an endpoint after the end of a send. */
export type KnownHealth = Exclude<EndpointHealth, 'untried'>;

/** Slots that become free within a second keep the healthy endpoints' waits short, however many share them. */
const SLOW_MS = 1_000;

export function healthAfter(send: { readonly isSuccess: boolean; readonly durationMs: number }): KnownHealth {
  if (!send.isSuccess) return 'failing';
  return send.durationMs < SLOW_MS ? 'proven' : 'slow';
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
  const maxHeldBack = Math.max(1, Math.floor(sends / 2));
  const maxUnproven = Math.max(maxHeldBack, sends - Math.max(1, Math.ceil(sends / 8)));

  // The endpoints in the order of their turns.
  const queue = new Set<string>();
  const enqueuedSinceAllocation = new Set<string>();
  const held = new Map<string, number>();
  // An endpoint without an entry is untried.
  const healths = new Map<string, KnownHealth>();
  const heldBy: Record<EndpointHealth, number> = { proven: 0, slow: 0, failing: 0, untried: 0 };
  let inFlight = 0;

  function healthOf(endpointId: string): EndpointHealth {
    return healths.get(endpointId) ?? 'untried';
  }

  function mayAllocateTo(endpointId: string): boolean {
    const health = healthOf(endpointId);
    const maxOwn = health === 'proven' || health === 'slow' ? sendsPerEndpoint : 1;
    if ((held.get(endpointId) ?? 0) >= maxOwn) return false;
    if (health === 'proven') return true;
    const heldBack = heldBy.slow + heldBy.failing;
    if (heldBack + heldBy.untried >= maxUnproven) return false;
    return health === 'untried' || heldBack < maxHeldBack;
  }

  function hold(endpointId: string, change: number): void {
    const own = (held.get(endpointId) ?? 0) + change;
    if (own === 0) held.delete(endpointId);
    else held.set(endpointId, own);
    heldBy[healthOf(endpointId)] += change;
    inFlight += change;
  }

  return {
    enqueue(endpointId) {
      queue.add(endpointId);
      enqueuedSinceAllocation.add(endpointId);
    },

    allocate() {
      enqueuedSinceAllocation.clear();
      const allocated = new Map<string, number>();
      for (let round: Iterable<string> = [...queue]; inFlight < sends; ) {
        const served: string[] = [];
        for (const endpointId of round) {
          if (inFlight >= sends) break;
          if (!mayAllocateTo(endpointId)) continue;
          hold(endpointId, 1);
          allocated.set(endpointId, (allocated.get(endpointId) ?? 0) + 1);
          served.push(endpointId);
        }
        for (const endpointId of served) {
          queue.delete(endpointId);
          queue.add(endpointId);
        }
        if (served.length === 0) break;
        round = served;
      }
      return [...allocated].map(([endpointId, slots]) => ({ endpointId, slots }));
    },

    releaseUnused(allocations, usageOf) {
      for (const allocation of allocations) {
        const { endpointId, slots } = allocation;
        const { used, isDrained } = usageOf(allocation);
        if (used < slots) hold(endpointId, used - slots);
        if (isDrained && !enqueuedSinceAllocation.has(endpointId)) queue.delete(endpointId);
      }
    },

    release(endpointId, health) {
      const own = held.get(endpointId) ?? 0;
      // All slots of the endpoint count towards its new health.
      heldBy[healthOf(endpointId)] -= own;
      healths.set(endpointId, health);
      heldBy[health] += own;
      hold(endpointId, -1);
    },

    get queued() {
      return queue.size;
    },
    get inFlight() {
      return inFlight;
    },
  };
}
