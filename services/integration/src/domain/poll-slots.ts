/**
 * Which due integration is polled next. A slot is the right to one poll in flight: there are 128 in total and 4 for one origin, unless
 * configured. The health of origins decides which of them may have one
 * (libs/untrusted-url/src/fair-slots.ts). Only the time that a poll took counts, whatever it led to:
 * one that fails soon holds no slot for long, and one that times out is slow. No origin is failing.
 *
 * An origin is counted apart in each environment, with its slots and its health: a test key that names the origin of another partner takes
 * nothing from that one's live polls. Test polls together hold at most half of all slots, and the last one of several is never theirs.
 *
 * Among the integrations whose origin may get a slot, those of live are first, and of each environment the one that is due for longest.
 */
import type { Tenant } from '@laurel/tenant';
import { createFairSlots, healthAfterSuccess } from '@laurel/untrusted-url';

/** An integration that is due, and whom its requests go to. */
export type DuePoll = {
  readonly integrationId: string;
  readonly origin: string;
  readonly tenant: Tenant;
};

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

export function createPollSlots({ polls, pollsPerOrigin }: PollLimits): PollSlots {
  const maxOfTest = Math.max(1, Math.floor(polls / 2));
  const slots = createFairSlots({ total: polls, perSubject: pollsPerOrigin, perDoubtfulSubject: pollsPerOrigin });
  const waiting = new Map<string, DuePoll>();
  const inFlight = new Set<string>();
  let heldByTest = 0;

  function take(due: DuePoll): boolean {
    const isTest = due.tenant.environment === 'test';
    if ((isTest && heldByTest >= maxOfTest) || !slots.take(countedOrigin(due))) return false;
    if (isTest) heldByTest += 1;
    inFlight.add(due.integrationId);
    return true;
  }

  function forget({ integrationId, tenant }: DuePoll): void {
    if (tenant.environment === 'test') heldByTest -= 1;
    inFlight.delete(integrationId);
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
          if (slots.held >= polls) break;
          if (due.tenant.environment !== environment || !take(due)) continue;
          waiting.delete(due.integrationId);
          allocated.push(due);
        }
      }
      return allocated;
    },

    releaseUnused(due) {
      slots.giveBack(countedOrigin(due), 1);
      forget(due);
    },

    release(due, durationMs) {
      slots.end(countedOrigin(due), healthAfterSuccess(durationMs));
      forget(due);
    },

    get waiting() {
      return waiting.size;
    },
    get inFlight() {
      return slots.held;
    },
  };
}

function countedOrigin({ origin, tenant }: DuePoll): string {
  return `${tenant.environment} ${origin}`;
}
