/**
 * Which due integration is polled next. A slot is the right to one poll in flight: there are 128 in total and 4 for one origin, unless
 * configured. The one rule is that a slow or dead partner does not delay another one: each of its polls holds a slot for up to ten seconds
 * a page.
 *
 * An origin's share depends on how long its last poll in this process took, whatever it led to:
 *   prompt    up to a second: of all slots
 *   slow      longer, as everything that times out: while slow origins together hold less than half of all slots
 *   untried   none has ended yet: while all but the prompt origins together hold less than 7/8 of all slots
 * So slow and dead partners, however many, leave half of the slots to the others. Untried origins have a larger share because to a new
 * process every origin is untried.
 *
 * An origin is counted apart in each environment, with its slots and its health: a test key that names the origin of another partner takes
 * nothing from that one's live polls. Test polls together hold at most half of all slots, and the last one of several is never theirs.
 *
 * Among the integrations whose origin may get a slot, those of live are first, and of each environment the one that is due for longest.
 */
import type { Tenant } from '@laurel/tenant';

/** An integration that is due, and whom its requests go to. */
export type DuePoll = {
  readonly integrationId: string;
  readonly origin: string;
  readonly tenant: Tenant;
};

type OriginHealth = 'prompt' | 'slow' | 'untried';

export type PollLimits = { readonly polls: number; readonly pollsPerOrigin: number };

export interface PollSlots {
  /** Replaces those that wait; the one that is due for longest is the first. */
  setWaiting(due: readonly DuePoll[]): void;
  /** Takes every waiting integration that may have a slot now, with its slot. */
  allocate(): readonly DuePoll[];
  /** The slot was not used. */
  releaseUnused(due: DuePoll): void;
  /** A poll has ended. */
  release(due: DuePoll, durationMs: number): void;
  readonly waiting: number;
  /** Slots that are allocated or in use. */
  readonly inFlight: number;
}

/** Slots that become free within a second keep the waits of prompt partners short, however many share them. */
const SLOW_MS = 1_000;
/** Of the origins that are known, those that were polled last; the others are untried again. */
const MAX_KNOWN_ORIGINS = 10_000;

export function createPollSlots({ polls, pollsPerOrigin }: PollLimits): PollSlots {
  const maxOfTest = Math.max(1, Math.floor(polls / 2));
  const maxSlow = Math.max(1, Math.floor(polls / 2));
  const maxUnproven = Math.max(maxSlow, polls - Math.max(1, Math.ceil(polls / 8)));

  const waiting = new Map<string, DuePoll>();
  const inFlight = new Set<string>();
  const held = new Map<string, number>();
  let heldByTest = 0;
  // An origin without an entry is untried. Origins are those of one environment: see `countedOrigin`.
  const healths = new Map<string, Exclude<OriginHealth, 'untried'>>();
  const heldBy: Record<OriginHealth, number> = { prompt: 0, slow: 0, untried: 0 };

  function healthOf(origin: string): OriginHealth {
    return healths.get(origin) ?? 'untried';
  }

  function mayPoll(due: DuePoll): boolean {
    if (due.tenant.environment === 'test' && heldByTest >= maxOfTest) return false;
    const origin = countedOrigin(due);
    if ((held.get(origin) ?? 0) >= pollsPerOrigin) return false;
    const health = healthOf(origin);
    if (health === 'prompt') return true;
    if (heldBy.slow + heldBy.untried >= maxUnproven) return false;
    return health === 'untried' || heldBy.slow < maxSlow;
  }

  function hold(due: DuePoll, change: 1 | -1): void {
    const { integrationId } = due;
    const origin = countedOrigin(due);
    if (due.tenant.environment === 'test') heldByTest += change;
    const ofOrigin = (held.get(origin) ?? 0) + change;
    if (ofOrigin === 0) held.delete(origin);
    else held.set(origin, ofOrigin);
    heldBy[healthOf(origin)] += change;
    if (change === 1) inFlight.add(integrationId);
    else inFlight.delete(integrationId);
  }

  /** All slots of the origin count towards its new health. */
  function setHealth(origin: string, health: Exclude<OriginHealth, 'untried'>): void {
    const ofOrigin = held.get(origin) ?? 0;
    heldBy[healthOf(origin)] -= ofOrigin;
    healths.delete(origin);
    healths.set(origin, health);
    heldBy[health] += ofOrigin;
    forgetOldest();
  }

  function forgetOldest(): void {
    if (healths.size <= MAX_KNOWN_ORIGINS) return;
    for (const [origin, health] of healths) {
      const ofOrigin = held.get(origin) ?? 0;
      heldBy[health] -= ofOrigin;
      heldBy.untried += ofOrigin;
      healths.delete(origin);
      return;
    }
  }

  return {
    setWaiting(due) {
      waiting.clear();
      for (const one of due) if (!inFlight.has(one.integrationId)) waiting.set(one.integrationId, one);
    },

    allocate() {
      const allocated: DuePoll[] = [];
      for (const environment of ['live', 'test'] as const) {
        for (const due of waiting.values()) {
          if (inFlight.size >= polls) break;
          if (due.tenant.environment !== environment || !mayPoll(due)) continue;
          waiting.delete(due.integrationId);
          hold(due, 1);
          allocated.push(due);
        }
      }
      return allocated;
    },

    releaseUnused: (due) => hold(due, -1),

    release(due, durationMs) {
      setHealth(countedOrigin(due), durationMs < SLOW_MS ? 'prompt' : 'slow');
      hold(due, -1);
    },

    get waiting() {
      return waiting.size;
    },
    get inFlight() {
      return inFlight.size;
    },
  };
}

function countedOrigin({ origin, tenant }: DuePoll): string {
  return `${tenant.environment} ${origin}`;
}
