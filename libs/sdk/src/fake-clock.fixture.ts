import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export interface FakeClock extends Clock {
  /** The number that `random` returns. */
  chance: number;
  /**
   * Advances the time from one timer to the next, and lets everything that a timer causes happen
   * before it continues.
   */
  advance(ms: number): Promise<void>;
  /** Timers that were neither cancelled nor called. */
  readonly pending: number;
}

export function createFakeClock(): FakeClock {
  let now = 0;
  const timers = new Set<Timer>();
  const next = (until: number) =>
    [...timers].filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at)[0];
  return {
    chance: 0,
    now: () => now,
    random() {
      return this.chance;
    },
    schedule(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = now + ms;
      await turn();
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        timers.delete(timer);
        now = timer.at;
        timer.callback();
        await turn();
      }
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
}
