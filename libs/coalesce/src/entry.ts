/**
 * One item of a coalescer. Its state and its answer change independently:
 *
 * state    submitted -> ready -> running -> done
 *          submitted -> waiting -> ready    behind an item of its key
 *          ready -> done                    answered before it ran: dropped
 * answer   open -> answered                 once: by its run, deadline or signal, or its batch's
 *          failure
 *
 * No other step exists: `move` throws for one. `resolveEntry` and `rejectEntry` ignore a second
 * answer, because a deadline and a run may both give one.
 */
import { BrokenInvariantError } from './errors.ts';
import type { ObservedItem } from './observer.ts';

type State = 'submitted' | 'waiting' | 'ready' | 'running' | 'done';

export interface Entry<Item, Result> {
  readonly item: Item;
  readonly key: string | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** On the monotonic clock, in milliseconds. */
  readonly submittedAt: number;
  /** Milliseconds since the epoch; infinite without a deadline. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  readonly observed: ObservedItem | undefined;
  state: State;
  isAnswered: boolean;
  onAbort: (() => void) | undefined;
  /** The item of the same key that waits behind this one. */
  next: Entry<Item, Result> | undefined;
}

export function move(entry: Entry<unknown, never>, from: State, to: State): void {
  if (entry.state !== from) {
    throw new BrokenInvariantError(`an item that is ${entry.state} cannot go from ${from} to ${to}`);
  }
  entry.state = to;
}

export function resolveEntry<Result>(entry: Entry<unknown, Result>, result: Result): void {
  if (entry.isAnswered) return;
  entry.isAnswered = true;
  entry.resolve(result);
  release(entry, undefined);
}

export function rejectEntry(entry: Entry<unknown, never>, error: unknown): void {
  if (entry.isAnswered) return;
  entry.isAnswered = true;
  entry.reject(error);
  release(entry, error);
}

/** The caller has its answer already, whatever fails here. */
function release(entry: Entry<unknown, never>, error: unknown): void {
  if (entry.onAbort !== undefined) entry.signal?.removeEventListener('abort', entry.onAbort);
  entry.observed?.onAnswer(error);
}
