/**
 * Which endpoint may send next. There is room for so many sends in flight in all (128 unless configured) and to one endpoint (4), and the
 * one rule is that no endpoint pays for another that is slow or dead: a dead one holds each of its places for the whole timeout.
 *
 * What an endpoint gets depends on what became of its last send in this process:
 *   proven    answered 2xx within a second: up to 4 places, of all there are
 *   slow      answered 2xx later: up to 4 places, while slow and failing ones together hold less than half of all places
 *   failing   anything else: 1 place, on the same condition
 *   untried   nothing has ended yet: 1 place, while all but the proven ones together hold less than 7/8 of all places
 * So the slow and the dead, however many, leave half of the places to the others, and all that are not known to be good leave an eighth to
 * those that are. Untried ones have more room than failing ones because a new process knows nobody: if they shared that half, as many dead
 * endpoints as fit in it would hold up every healthy one for a whole timeout.
 *
 * Places are dealt like cards, one to each endpoint in turn, and whoever got one goes to the end of the queue: while sends end, nobody
 * waits for ever.
 */

/** An endpoint and how many places it was dealt. */
export type Room = { readonly endpointId: string; readonly room: number };

export type Standing = 'proven' | 'slow' | 'failing' | 'untried';

/** What the end of a send makes of its endpoint. */
export type Ended = Exclude<Standing, 'untried'>;

/** Places that turn over within a second keep the healthy endpoints' waits short, however many share them. */
const SLOW_MS = 1_000;

export function standingAfter(send: { readonly isSuccess: boolean; readonly durationMs: number }): Ended {
  if (!send.isSuccess) return 'failing';
  return send.durationMs < SLOW_MS ? 'proven' : 'slow';
}

export type SlotLimits = { readonly sends: number; readonly sendsPerEndpoint: number };

/** How many of its places an endpoint sends in, and whether it has nothing more that is due. */
export type Usage = { readonly used: number; readonly isDrained: boolean };

export interface Slots {
  /** The endpoint may have something due: it joins the queue, unless it stands there. */
  enqueue(endpointId: string): void;
  /** Deals every place that may be dealt. Until `settle` is told what was used of them, they count as used. */
  deal(): readonly Room[];
  /**
   * What became of the places that were dealt: the unused ones are free again, and a drained endpoint leaves the queue, unless it was
   * enqueued since.
   */
  settle(dealt: readonly Room[], usageOf: (room: Room) => Usage): void;
  /** A send has ended: its place is free. */
  free(endpointId: string, standing: Ended): void;
  /** Endpoints that may have something due. */
  readonly queued: number;
  /** Places that are dealt or in use. */
  readonly inFlight: number;
}

export function createSlots({ sends, sendsPerEndpoint }: SlotLimits): Slots {
  const maxHeldBack = Math.max(1, Math.floor(sends / 2));
  const maxUnproven = Math.max(maxHeldBack, sends - Math.max(1, Math.ceil(sends / 8)));

  // In the order of their turns.
  const queue = new Set<string>();
  const enqueuedSinceDeal = new Set<string>();
  const held = new Map<string, number>();
  // An endpoint that is not in here is untried.
  const standings = new Map<string, Ended>();
  const heldBy: Record<Standing, number> = { proven: 0, slow: 0, failing: 0, untried: 0 };
  let inFlight = 0;

  function standingOf(endpointId: string): Standing {
    return standings.get(endpointId) ?? 'untried';
  }

  function mayTake(endpointId: string): boolean {
    const standing = standingOf(endpointId);
    const maxOwn = standing === 'proven' || standing === 'slow' ? sendsPerEndpoint : 1;
    if ((held.get(endpointId) ?? 0) >= maxOwn) return false;
    if (standing === 'proven') return true;
    const heldBack = heldBy.slow + heldBy.failing;
    if (heldBack + heldBy.untried >= maxUnproven) return false;
    return standing === 'untried' || heldBack < maxHeldBack;
  }

  function hold(endpointId: string, change: number): void {
    const own = (held.get(endpointId) ?? 0) + change;
    if (own === 0) held.delete(endpointId);
    else held.set(endpointId, own);
    heldBy[standingOf(endpointId)] += change;
    inFlight += change;
  }

  return {
    enqueue(endpointId) {
      queue.add(endpointId);
      enqueuedSinceDeal.add(endpointId);
    },

    deal() {
      enqueuedSinceDeal.clear();
      const rooms = new Map<string, number>();
      for (let round: Iterable<string> = [...queue]; inFlight < sends; ) {
        const takers: string[] = [];
        for (const endpointId of round) {
          if (inFlight >= sends) break;
          if (!mayTake(endpointId)) continue;
          hold(endpointId, 1);
          rooms.set(endpointId, (rooms.get(endpointId) ?? 0) + 1);
          takers.push(endpointId);
        }
        for (const endpointId of takers) {
          queue.delete(endpointId);
          queue.add(endpointId);
        }
        if (takers.length === 0) break;
        round = takers;
      }
      return [...rooms].map(([endpointId, room]) => ({ endpointId, room }));
    },

    settle(dealt, usageOf) {
      for (const place of dealt) {
        const { endpointId, room } = place;
        const { used, isDrained } = usageOf(place);
        if (used < room) hold(endpointId, used - room);
        if (isDrained && !enqueuedSinceDeal.has(endpointId)) queue.delete(endpointId);
      }
    },

    free(endpointId, standing) {
      const own = held.get(endpointId) ?? 0;
      // All its places move with it to its new standing.
      heldBy[standingOf(endpointId)] -= own;
      standings.set(endpointId, standing);
      heldBy[standing] += own;
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
