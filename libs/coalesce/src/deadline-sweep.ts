/**
 * One timer for the deadlines of all items, set for the earliest. Most items are done long before
 * their deadlines. The sweep rejects overdue ones and sets the timer for the next. The timer keeps
 * no process alive.
 */
import { rejectSubmission, type Submission } from './submission.ts';

/** The longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class DeadlineSweep {
  readonly #unfinished: () => Iterable<Submission<unknown, never>>;
  readonly #pastDeadline: () => Error;
  #sweepAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(unfinished: () => Iterable<Submission<unknown, never>>, pastDeadline: () => Error) {
    this.#unfinished = unfinished;
    this.#pastDeadline = pastDeadline;
  }

  noLaterThan(deadlineAt: number): void {
    if (deadlineAt >= this.#sweepAt) return;
    clearTimeout(this.#timer);
    this.#sweepAt = deadlineAt;
    const waitMs = Math.min(Math.max(deadlineAt - Date.now(), 0), MAX_TIMER_MS);
    this.#timer = setTimeout(() => this.#sweep(), waitMs).unref();
  }

  #sweep(): void {
    const now = Date.now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const submission of this.#unfinished()) {
      if (submission.isAnswered) continue;
      if (submission.deadlineAt <= now) rejectSubmission(submission, this.#pastDeadline());
      else if (submission.deadlineAt < earliest) earliest = submission.deadlineAt;
    }
    this.#sweepAt = Number.POSITIVE_INFINITY;
    this.noLaterThan(earliest);
  }
}
