/**
 * One gate for all calls of a client, so that at the limit of requests a minute the client waits as
 * a whole.
 *
 * - Every response states the requests left in its minute (`X-RateLimit-Remaining`). A quarter of
 *   these may be under way, but always at least one. So one request finds the minute used up, not a
 *   hundred, even if several servers share the minute. While the number is unknown, for example
 *   after a wait, a few requests may be under way.
 * - A 429 closes the gate for every call until its `retry_after` is over. It then opens for a few
 *   requests, and for more as the responses permit. A random delay keeps servers with one key
 *   apart.
 * - A call whose deadline is before the opening is refused at once.
 */
import type { Clock } from './clock.ts';

/**
 * The part of the remaining requests that may be under way. Several servers of one program do not
 * know of each other's requests; with this part they exceed their common minute by little.
 */
const SHARE = 1 / 4;
/** The remaining requests that are assumed while the number is unknown: ten may be under way. */
const UNKNOWN_REMAINING = 40;
/** The gates of several servers open within this many milliseconds of each other. */
const SPREAD_MS = 500;

/** What is known after a request: how many were left, how long to wait, or nothing. */
export type GateReport =
  | { readonly kind: 'counted'; readonly remaining: number }
  | { readonly kind: 'uncounted' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  | { readonly kind: 'lost' };

export type GatePass =
  | { readonly kind: 'passed'; readonly leave: (report: GateReport) => void }
  /** The gate stays closed beyond the deadline. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  /** The deadline passed while this client's other requests were under way. */
  | { readonly kind: 'late' };

interface Waiter {
  readonly deadline: number;
  readonly resolve: (pass: GatePass) => void;
  readonly cancelTimer: () => void;
}

export class RateGate {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  #underWay = 0;
  #remaining = UNKNOWN_REMAINING;
  /**
   * Numbers requests in the order of their start. A request that began after `remaining` was
   * learned belongs to the same minute or a later one.
   */
  #begun = 0;
  #learnedAt = 0;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #cancelOpeningTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when this call may send a request, in the order of the calls; rejects with the reason
   * of an aborted signal.
   */
  enter(deadline: number, signal?: AbortSignal): Promise<GatePass> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        this.#remove(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        deadline,
        resolve: (pass) => {
          signal?.removeEventListener('abort', abort);
          resolve(pass);
        },
        cancelTimer: this.#clock.schedule(Math.max(0, deadline - this.#clock.now()), () => {
          this.#remove(waiter);
          waiter.resolve({ kind: 'late' });
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
        waiter.resolve({ kind: 'limited', retryAfterMs: closedForMs });
      } else if (this.#underWay < this.#remaining * SHARE || this.#underWay === 0) {
        this.#remove(waiter);
        waiter.resolve({ kind: 'passed', leave: this.#begin() });
      } else return;
    }
    if (closedForMs > 0 && this.#waiting.size > 0) this.#scheduleOpening(closedForMs);
  }

  /**
   * Sets the timer that opens the gate, only while calls wait: a timer keeps its process alive. A
   * call that comes later reads `closedUntil`.
   */
  #scheduleOpening(closedForMs: number): void {
    this.#cancelOpeningTimer ??= this.#clock.schedule(closedForMs, () => {
      this.#cancelOpeningTimer = undefined;
      // The timer may have fired a little early. No other one is set, so the gate counts as open
      // from now on.
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
    // Every response of the API has a count, so an intermediary has removed this one. Then only a
    // 429 shows the limit.
    if (report.kind === 'uncounted') this.#know(Number.POSITIVE_INFINITY);
    // Responses overtake each other: a higher number counts only for a request begun after the
    // lower one was learned.
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
