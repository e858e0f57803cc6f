/**
 * One gate for all calls of a client, so that a client that reaches the limit of requests per minute waits as a whole.
 *
 * - Every answer states how many requests were left in its minute (`X-RateLimit-Remaining`). A quarter of that may be under way at a time, and one always:
 *   so the end of a minute is met by one request, not by a hundred, also where several servers share the minute. While nothing is known, as after a
 *   wait, a few go ahead.
 * - A 429 closes the gate for every call until its `retry_after` is over. It then opens for a few, and for the rest as their answers
 *   say. Some chance in the time keeps several servers with one key apart.
 * - A call whose deadline lies before the opening is refused at once.
 */
import type { Clock } from './clock.ts';

/** This part of what was left may be under way: servers with keys of one program do not know of each other, and exceed their minute by little. */
const SHARE = 1 / 4;
/** What is assumed while the client does not know how many are left: ten requests under way. */
const UNKNOWN_REMAINING = 40;
/** The gates of several servers open within so many milliseconds of each other. */
const SPREAD_MS = 500;

/** What is known at the end of a request: how many were left, how long to wait, or nothing. */
export type GateReport =
  | { readonly kind: 'counted'; readonly remaining: number }
  | { readonly kind: 'uncounted' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  | { readonly kind: 'lost' };

export type GatePass =
  | { readonly kind: 'passed'; readonly leave: (report: GateReport) => void }
  /** The gate stays closed beyond the deadline. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  /** The deadline passed while other requests of this client were under way. */
  | { readonly kind: 'late' };

interface Waiter {
  readonly deadline: number;
  readonly settle: (pass: GatePass) => void;
  readonly cancelTimer: () => void;
}

export class RateGate {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  #underWay = 0;
  #remaining = UNKNOWN_REMAINING;
  /** Requests are numbered as they begin; one that began after `remaining` was learned is of the same minute or a later one. */
  #begun = 0;
  #learnedAt = 0;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #cancelOpeningTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when this call may send a request, in the order of the calls; rejects with the reason of the signal when it aborts. */
  enter(deadline: number, signal?: AbortSignal): Promise<GatePass> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        this.#remove(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        deadline,
        settle: (pass) => {
          signal?.removeEventListener('abort', abort);
          resolve(pass);
        },
        cancelTimer: this.#clock.schedule(Math.max(0, deadline - this.#clock.now()), () => {
          this.#remove(waiter);
          waiter.settle({ kind: 'late' });
        }),
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiter);
      this.#admit();
    });
  }

  #remove(waiter: Waiter): void {
    waiter.cancelTimer();
    this.#waiting.delete(waiter);
    if (this.#waiting.size === 0) this.#cancelOpening();
  }

  #admit(): void {
    const closedForMs = this.#closedUntil - this.#clock.now();
    for (const waiter of this.#waiting) {
      if (closedForMs > 0) {
        if (waiter.deadline > this.#closedUntil) continue;
        this.#remove(waiter);
        waiter.settle({ kind: 'limited', retryAfterMs: closedForMs });
      } else if (this.#underWay < this.#remaining * SHARE || this.#underWay === 0) {
        this.#remove(waiter);
        waiter.settle({ kind: 'passed', leave: this.#begin() });
      } else return;
    }
    if (closedForMs > 0 && this.#waiting.size > 0) this.#scheduleOpening(closedForMs);
  }

  /** Only while calls wait: a timer keeps its process alive, and a call that comes later reads `closedUntil`. */
  #scheduleOpening(closedForMs: number): void {
    this.#cancelOpeningTimer ??= this.#clock.schedule(closedForMs, () => {
      this.#cancelOpeningTimer = undefined;
      // A timer may fire a little early, and no other timer is set.
      this.#closedUntil = Number.NEGATIVE_INFINITY;
      this.#admit();
    });
  }

  #cancelOpening(): void {
    this.#cancelOpeningTimer?.();
    this.#cancelOpeningTimer = undefined;
  }

  #begin(): (report: GateReport) => void {
    const number = ++this.#begun;
    this.#underWay += 1;
    return (report) => {
      this.#underWay -= 1;
      this.#learn(report, number);
      this.#admit();
    };
  }

  #learn(report: GateReport, number: number): void {
    if (report.kind === 'limited') this.#close(report.retryAfterMs);
    // The API counts every request, so an answer without a count came through something that removes it, and only a 429 shows the limit.
    if (report.kind === 'uncounted') this.#know(Number.POSITIVE_INFINITY);
    // Answers overtake each other: a higher number is news only from a request that began after the lower one was learned.
    if (report.kind === 'counted' && (report.remaining < this.#remaining || number > this.#learnedAt)) {
      this.#know(report.remaining);
    }
  }

  #know(remaining: number): void {
    this.#remaining = remaining;
    this.#learnedAt = this.#begun;
  }

  #close(retryAfterMs: number): void {
    const until = this.#clock.now() + retryAfterMs + this.#clock.random() * SPREAD_MS;
    this.#know(UNKNOWN_REMAINING);
    if (until <= this.#closedUntil) return;
    this.#closedUntil = until;
    this.#cancelOpening();
  }
}
