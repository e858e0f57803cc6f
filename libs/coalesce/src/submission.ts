/**
 * One submitted item of a coalescer. Its state and its answer change independently:
 *
 * state    submitted -> ready -> running -> done
 *          submitted -> waiting -> ready    behind an item of its key
 *          ready -> done                    answered before it ran: dropped
 * answer   open -> answered                 once: by its run, deadline or signal, or its batch's
 *          failure
 *
 * No other step exists: `moveSubmission` throws for any other. `resolveSubmission` and
 * `rejectSubmission` ignore a second answer, because a deadline and a run may both give one.
 */
import { BrokenInvariantError } from './errors.ts';
import type { ObservedItem } from './observer.ts';

type State = 'submitted' | 'waiting' | 'ready' | 'running' | 'done';

export interface Submission<Item, Result> {
  readonly item: Item;
  readonly key: string | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** The time is on the monotonic clock, in milliseconds. */
  readonly submittedAt: number;
  /** The deadline in milliseconds since the epoch; infinite without one. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  readonly observed: ObservedItem | undefined;
  state: State;
  isAnswered: boolean;
  onAbort: (() => void) | undefined;
  /** The item of the same key that waits behind this one. */
  next: Submission<Item, Result> | undefined;
}

export function moveSubmission(submission: Submission<unknown, never>, from: State, to: State): void {
  if (submission.state !== from) {
    throw new BrokenInvariantError(`an item that is ${submission.state} cannot go from ${from} to ${to}`);
  }
  submission.state = to;
}

export function resolveSubmission<Result>(submission: Submission<unknown, Result>, result: Result): void {
  if (submission.isAnswered) return;
  submission.isAnswered = true;
  submission.resolve(result);
  release(submission, undefined);
}

export function rejectSubmission(submission: Submission<unknown, never>, error: unknown): void {
  if (submission.isAnswered) return;
  submission.isAnswered = true;
  submission.reject(error);
  release(submission, error);
}

/** Cleans up once the caller has its result. An error here cannot reach the caller. */
function release(submission: Submission<unknown, never>, error: unknown): void {
  if (submission.onAbort !== undefined) submission.signal?.removeEventListener('abort', submission.onAbort);
  submission.observed?.onAnswer(error);
}
