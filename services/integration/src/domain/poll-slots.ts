/**
 * Which due integration is polled next. A slot is the right to one poll in flight; the
 * configuration limits the slots in total and per origin. An origin's health decides whether it may
 * have a slot (libs/untrusted-url/src/fair-slots.ts). Only the duration of a poll counts, not its
 * end: a poll that fails soon holds no slot for long, and one that times out is slow. No origin
 * counts as failing.
 *
 * Each environment counts an origin's slots and health separately. So a test key that names another
 * partner's origin uses up nothing of that partner's live polls. Test polls together hold at most
 * half of all slots, and never the last one if there are several.
 *
 * Live integrations come first among those whose origin may get a slot; within an environment, the
 * longest due comes first.
 */

import { createFairSlots, healthAfterSuccess } from '@laurel/untrusted-url';
import type { Tenant } from '@laurel/values/tenant';

/** An integration that is due, and the origin of its requests. */
export type DuePoll = {
  readonly integrationId: string;
  readonly origin: string;
  readonly tenant: Tenant;
};

export type PollLimits = { readonly polls: number; readonly pollsPerOrigin: number };

/** The numbers of slots, unless the configuration sets others. */
export const DEFAULT_POLL_SLOTS: PollLimits = { polls: 128, pollsPerOrigin: 4 };

export interface PollSlots {
  /** Replaces the waiting polls; the longest due comes first. */
  setWaiting(due: readonly DuePoll[]): void;
  /** Takes every waiting integration that may have a slot now, with its slot. */
  allocate(): readonly DuePoll[];
  /** Returns a slot that was not used. */
  releaseUnused(due: DuePoll): void;
  /** Releases the slot of a poll that has ended. */
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
