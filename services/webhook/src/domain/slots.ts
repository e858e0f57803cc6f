/**
 * Which endpoint may send next, in which environment. A slot is the right to one send in flight: there are 128 in total and 4 for one endpoint, unless configured.
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
 *
 * Deliveries of live and of test wait in queues of their own, each with its slots and its health: what a test key sends to an endpoint takes
 * nothing from the live deliveries to it. Live queues get their slots first, and those of test hold at most half of all slots, so that no
 * number of slow test endpoints delays a live delivery. A delivery that a developer requested as a test is of test.
 */
import type { Environment } from '@laurel/tenant';
import type { NewDelivery } from './delivery.ts';

/** The deliveries to an endpoint in one environment. */
export type DeliveryQueue = { readonly endpointId: string; readonly environment: Environment };

/** The queue of a delivery. */
export function queueOf({ endpointId, tenant }: Pick<NewDelivery, 'endpointId' | 'tenant'>): DeliveryQueue {
  return { endpointId, environment: tenant?.environment ?? 'test' };
}

/** A queue and the number of slots that it was allocated. */
export type Allocation = DeliveryQueue & { readonly slots: number };

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

/** The number of allocated slots that a queue uses, and whether it has nothing more that is due. */
export type Usage = { readonly used: number; readonly isDrained: boolean };

export interface Slots {
  /** The queue may have something due: it waits for its turn, unless it does already. */
  enqueue(waiting: DeliveryQueue): void;
  /** Allocates every slot that may be allocated. Until `releaseUnused` gets their usage, they count as used. */
  allocate(): readonly Allocation[];
  /**
   * Releases the allocated slots that are not used. A queue that is drained no longer waits, unless it was enqueued since the
   * allocation.
   */
  releaseUnused(allocations: readonly Allocation[], usageOf: (allocation: Allocation) => Usage): void;
  /** A send has ended: releases its slot. */
  release(ended: DeliveryQueue, health: KnownHealth): void;
  /** Queues that may have something due. */
  readonly queued: number;
  /** Slots that are allocated or in use. */
  readonly inFlight: number;
}

/** Live deliveries never wait for a slot that one of test takes. */
const LIVE_FIRST: readonly Environment[] = ['live', 'test'];

export function keyOf({ endpointId, environment }: DeliveryQueue): string {
  return `${environment} ${endpointId}`;
}

export function createSlots({ sends, sendsPerEndpoint }: SlotLimits): Slots {
  const maxOfTest = Math.max(1, Math.floor(sends / 2));
  const maxHeldBack = Math.max(1, Math.floor(sends / 2));
  const maxUnproven = Math.max(maxHeldBack, sends - Math.max(1, Math.ceil(sends / 8)));

  // By key, in the order of their turns.
  const waiting = new Map<string, DeliveryQueue>();
  const enqueuedSinceAllocation = new Set<string>();
  const held = new Map<string, number>();
  // A queue without an entry is untried.
  const healths = new Map<string, KnownHealth>();
  const heldBy: Record<EndpointHealth, number> = { proven: 0, slow: 0, failing: 0, untried: 0 };
  let heldByTest = 0;
  let inFlight = 0;

  function healthOf(key: string): EndpointHealth {
    return healths.get(key) ?? 'untried';
  }

  function mayAllocateTo(next: DeliveryQueue): boolean {
    if (next.environment === 'test' && heldByTest >= maxOfTest) return false;
    const key = keyOf(next);
    const health = healthOf(key);
    const maxOwn = health === 'proven' || health === 'slow' ? sendsPerEndpoint : 1;
    if ((held.get(key) ?? 0) >= maxOwn) return false;
    if (health === 'proven') return true;
    const heldBack = heldBy.slow + heldBy.failing;
    if (heldBack + heldBy.untried >= maxUnproven) return false;
    return health === 'untried' || heldBack < maxHeldBack;
  }

  function hold(queue: DeliveryQueue, change: number): void {
    const key = keyOf(queue);
    const own = (held.get(key) ?? 0) + change;
    if (own === 0) held.delete(key);
    else held.set(key, own);
    heldBy[healthOf(key)] += change;
    if (queue.environment === 'test') heldByTest += change;
    inFlight += change;
  }

  /** One slot to each of these that may have one, in turn; those that got one. */
  function allocateRound(round: readonly DeliveryQueue[]): readonly DeliveryQueue[] {
    const served: DeliveryQueue[] = [];
    for (const next of round) {
      if (inFlight >= sends) break;
      if (!mayAllocateTo(next)) continue;
      hold(next, 1);
      served.push(next);
    }
    for (const queue of served) {
      waiting.delete(keyOf(queue));
      waiting.set(keyOf(queue), queue);
    }
    return served;
  }

  return {
    enqueue(queue) {
      const key = keyOf(queue);
      if (!waiting.has(key)) waiting.set(key, queue);
      enqueuedSinceAllocation.add(key);
    },

    allocate() {
      enqueuedSinceAllocation.clear();
      const allocated = new Map<string, Allocation>();
      for (const environment of LIVE_FIRST) {
        let round: readonly DeliveryQueue[] = [...waiting.values()].filter(
          (queue) => queue.environment === environment,
        );
        while (round.length > 0 && inFlight < sends) {
          round = allocateRound(round);
          for (const queue of round) {
            const key = keyOf(queue);
            allocated.set(key, { ...queue, slots: (allocated.get(key)?.slots ?? 0) + 1 });
          }
        }
      }
      return [...allocated.values()];
    },

    releaseUnused(allocations, usageOf) {
      for (const allocation of allocations) {
        const { used, isDrained } = usageOf(allocation);
        const key = keyOf(allocation);
        if (used < allocation.slots) hold(allocation, used - allocation.slots);
        if (isDrained && !enqueuedSinceAllocation.has(key)) waiting.delete(key);
      }
    },

    release(ended, health) {
      const key = keyOf(ended);
      const own = held.get(key) ?? 0;
      // All slots of the queue count towards its new health.
      heldBy[healthOf(key)] -= own;
      healths.set(key, health);
      heldBy[health] += own;
      hold(ended, -1);
    },

    get queued() {
      return waiting.size;
    },
    get inFlight() {
      return inFlight;
    },
  };
}
