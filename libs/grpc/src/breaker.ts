/**
 * The breaker in front of a service. Closed: calls go out. Open: half of at least 20 calls in the last 10 s failed, and calls fail
 * immediately for a second. Half open: one call goes out as a probe; its success closes the breaker, its failure opens it again.
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

export type Breaker = {
  fire<Result>(action: () => Promise<Result>): Promise<Result>;
  shutdown(): void;
};

export function createBreaker(client: string, options: BreakerOptions): Breaker {
  // We turn the window ourselves, to be able to empty it: a breaker that closes discards the failures that opened it, or the first
  // failure afterwards would open it again.
  const rotation = new EventEmitter();
  const timer = setInterval(() => rotation.emit('rotate'), BUCKET_MS).unref();

  const breaker = new CircuitBreaker((action: () => Promise<unknown>) => action(), {
    name: client,
    // A call has its own deadline.
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
  const open = gauge('laurel_breaker_open', 'Whether calls to a service fail at once: 1 open, 0 not.', ['client']);
  open.set({ client }, 0);
  breaker.on('open', () => open.set({ client }, 1));
  breaker.on('close', () => {
    open.set({ client }, 0);
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
