/**
 * What was done in the sandbox since the portal was loaded, by program. It stays in memory while
 * the developer looks at other pages, and is stored nowhere.
 */
import { useSyncExternalStore } from 'react';
import type { SandboxEvent, SandboxEventList } from '../../api/api-types.ts';
import { call, type Result } from '../../api/client.ts';
import type { Failure } from '../../api/failure.ts';
import { requestOf, type SandboxCall } from './calls.ts';
import type { AcceptedCall } from './samples.ts';

export interface Step {
  readonly number: number;
  readonly at: string;
  readonly call: SandboxCall;
  /** `answer` is undefined for a 204. */
  readonly result: Result<unknown>;
}

export interface Visit {
  /** The steps are oldest first. */
  readonly steps: readonly Step[];
  /** The events are oldest first, from the beginning of the visit. */
  readonly events: readonly SandboxEvent[];
  /** The position after the newest event that was read; undefined before the first read. */
  readonly cursor: string | undefined;
  /** Why the last read of events failed; the next one may succeed. */
  readonly eventsFailure: Failure | undefined;
}

/** The number of newest events that a visit keeps. */
const MAX_EVENTS = 500;
const PAGE_EVENTS = 100;
const EMPTY: Visit = { steps: [], events: [], cursor: undefined, eventsFailure: undefined };

const visits = new Map<string, Visit>();
const listeners = new Set<() => void>();

export function useVisit(programId: string): Visit {
  return useSyncExternalStore(subscribe, () => visitOf(programId));
}

/** Makes the call, and keeps it with its answer as a step. */
export async function takeStep(programId: string, sandboxCall: SandboxCall): Promise<Result<unknown>> {
  // The cursor is read before the call, so that the events that the call causes come after it.
  if (visitOf(programId).cursor === undefined) await readEvents(programId);
  const { path, body } = requestOf(sandboxCall);
  const result = await call<unknown>('post', `/programs/${programId}/sandbox${path}`, { body });
  if (!result.ok && result.failure.kind === 'session-ended') return result;
  const { steps } = visitOf(programId);
  const step = { number: steps.length + 1, at: new Date().toISOString(), call: sandboxCall, result };
  change(programId, { steps: [...steps, step] });
  return result;
}

/** Reads the events after the last known event. Returns whether more can be read at once. */
export async function readEvents(programId: string, signal?: AbortSignal): Promise<Result<{ hasMore: boolean }>> {
  const { cursor } = visitOf(programId);
  const query = cursor === undefined ? { from: 'now', limit: PAGE_EVENTS } : { after: cursor, limit: PAGE_EVENTS };
  const options = signal === undefined ? { query } : { query, signal };
  const result = await call<SandboxEventList>('get', `/programs/${programId}/sandbox/events`, options);
  const now = visitOf(programId);
  // Another read has gone further meanwhile.
  if (now.cursor !== cursor) return { ok: true, data: { hasMore: true } };
  if (!result.ok) {
    // The events after an old cursor are deleted, so a visit that lasts for days starts over.
    const isOld = result.failure.kind === 'refused' && result.failure.code === 'invalid_request';
    change(programId, { eventsFailure: result.failure, cursor: isOld ? undefined : cursor });
    return result;
  }
  const { data, next_cursor: next } = result.data;
  const events = data.length === 0 ? now.events : [...now.events, ...data].slice(-MAX_EVENTS);
  change(programId, { events, cursor: next, eventsFailure: undefined });
  return { ok: true, data: { hasMore: data.length === PAGE_EVENTS } };
}

export function forgetSteps(programId: string): void {
  change(programId, { steps: [], events: [] });
}

/** The accepted calls, for a script. */
export function acceptedCallsOf(steps: readonly Step[]): readonly AcceptedCall[] {
  return steps.flatMap(({ call: done, result }) => {
    if (!result.ok) return [];
    const attemptId = done.kind === 'create-attempt' ? (result.data as { readonly id: string }).id : undefined;
    return [{ call: done, attemptId }];
  });
}

/** The attempt that was created last. */
export function lastAttemptOf(steps: readonly Step[]): string | undefined {
  return acceptedCallsOf(steps).findLast(({ attemptId }) => attemptId !== undefined)?.attemptId;
}

function visitOf(programId: string): Visit {
  return visits.get(programId) ?? EMPTY;
}

function change(programId: string, changed: Partial<Visit>): void {
  visits.set(programId, { ...visitOf(programId), ...changed });
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
