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
/**
 * A breaker that stays half open for so long gets no calls. Under load it is half open for an instant before each probe: that is not to be
 * seen as the end of an outage.
 */
const UNUSED_AFTER_MS = 30_000;

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
 * In a gauge: open until a call has succeeded, or until it has waited for its probe for half a minute. The next call is then sent and does
 * not fail at once, and whether the service is back is not known: a caller without traffic would show an outage for as long as it has none.
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
