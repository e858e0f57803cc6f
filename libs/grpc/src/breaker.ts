/**
 * The breaker in front of a service.
 *
 * - Closed: calls are sent. If half of at least 20 calls in the last 10 s failed, the breaker
 *   opens.
 * - Open: calls fail immediately, for a second.
 * - Half open: one call is sent as a probe. Its success closes the breaker, its failure opens it
 *   again.
 */
import { EventEmitter } from 'node:events';
import { gauge } from '@laurel/telemetry';
import CircuitBreaker from 'opossum';
import { CallFailedError, countsAgainstBreaker, UnavailableError } from './error-mapping.ts';

export type BreakerOptions = {
  errorThresholdPercentage?: number;
  volumeThreshold?: number;
  resetTimeoutMs?: number;
};

const WINDOW_BUCKETS = 10;
const BUCKET_MS = 1_000;
/**
 * If a breaker stays half open for this long, its client makes no calls. Under load the probe
 * follows at once, and the metric must not show the moment before the probe as the end of an
 * outage.
 */
const UNUSED_AFTER_MS = 30_000;

export type Breaker = {
  fire<Result>(action: () => Promise<Result>): Promise<Result>;
  shutdown(): void;
};

export function createBreaker(client: string, options: BreakerOptions): Breaker {
  // This file rotates the window itself, because it must also empty the window: when the breaker
  // closes, the old failures are discarded. Otherwise the next failure would open the breaker
  // again.
  const rotation = new EventEmitter();
  const timer = setInterval(() => rotation.emit('rotate'), BUCKET_MS).unref();

  const breaker = new CircuitBreaker((action: () => Promise<unknown>) => action(), {
    name: client,
    // No time limit here: each call has its own deadline.
    timeout: false,
    errorThresholdPercentage: options.errorThresholdPercentage ?? 50,
    volumeThreshold: options.volumeThreshold ?? 20,
    resetTimeout: options.resetTimeoutMs ?? 1_000,
    rollingCountBuckets: WINDOW_BUCKETS,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    rotateBucketController: rotation,
    errorFilter: (error) => !(error instanceof CallFailedError && countsAgainstBreaker(error)),
  });
  showState(breaker, client);
  breaker.on('close', () => {
    for (let bucket = 0; bucket < WINDOW_BUCKETS; bucket += 1) rotation.emit('rotate');
  });

  return {
    async fire<Result>(action: () => Promise<Result>): Promise<Result> {
      try {
        return (await breaker.fire(action)) as Result;
      } catch (error) {
        if (error instanceof Error && CircuitBreaker.isOurError(error)) throw new UnavailableError(client, error);
        throw error;
      }
    },
    shutdown() {
      clearInterval(timer);
      breaker.shutdown();
    },
  };
}

/**
 * Shows the breaker in a gauge as open until a call succeeds, or until it was half open for half a
 * minute without a call. The breaker then sends the next call as its probe. Without the time limit,
 * a caller without traffic would show an outage forever.
 */
function showState(breaker: CircuitBreaker, client: string): void {
  const open = gauge('laurel_breaker_open', 'Whether calls to a service fail at once: 1 open, 0 not.', ['client']);
  let unused: NodeJS.Timeout | undefined;
  const show = (value: 0 | 1) => {
    clearTimeout(unused);
    open.set({ client }, value);
  };
  show(0);
  breaker.on('open', () => show(1));
  breaker.on('close', () => show(0));
  breaker.on('halfOpen', () => {
    unused = setTimeout(() => show(0), UNUSED_AFTER_MS).unref();
  });
  breaker.on('fire', () => clearTimeout(unused));
}
