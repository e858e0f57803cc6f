/**
 * Time and random numbers. A test of retries or of the gate replaces both, so that it waits for
 * nothing and knows every delay.
 */
export interface Clock {
  /** Returns milliseconds that never decrease. */
  now(): number;
  /** Calls back once after this many milliseconds; the result cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Returns a number from 0 to below 1. */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};
