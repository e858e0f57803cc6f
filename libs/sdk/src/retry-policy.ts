/**
 * What a failed try means for its call (docs/contract/partner-api.md, "Errors"). Pure: time and
 * chance are arguments.
 *
 * - A refusal of the API ends the call: a repetition would be refused again.
 * - A failure that leaves open whether the API acted (no response, 500, 502 to 504) is repeated if
 *   a repetition changes nothing more: reads, calls with an idempotency key, and changes that are
 *   the same once or twice.
 * - 409 `idempotency_in_progress` is repeated: the first request with the key is still under way,
 *   or its process died and the key is free after 60 s.
 * - 429 is repeated for every call, because the request was refused before anything ran; the gate
 *   decides when.
 */
import type { LaurelError } from './errors.ts';

/**
 * Whether a call may be sent again after its response was lost. `once`: it may not, because a
 * repetition would act again: show another secret, add funds once more or use up another retry.
 */
export type RepeatEffect = 'harmless' | 'once';

export type RetryDecision =
  | { readonly kind: 'end' }
  /** The call is repeated when the rate-limit gate allows it. */
  | { readonly kind: 'gate' }
  | { readonly kind: 'wait'; readonly delayMs: number };

export interface FailedTry {
  readonly error: LaurelError;
  readonly repetition: RepeatEffect;
  /**
   * The call's failures so far that count against `maxRetries`: all but 429 and
   * `idempotency_in_progress`, which only the deadline ends.
   */
  readonly failures: number;
  readonly maxRetries: number;
  /** The chance is from 0 to below 1. */
  readonly chance: number;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
const REPEATED_STATUSES: readonly number[] = [500, 502, 503, 504];
const END: RetryDecision = { kind: 'end' };

export function decideRetry({ error, repetition, failures, maxRetries, chance }: FailedTry): RetryDecision {
  if (maxRetries === 0) return END;
  if (error.code === 'rate_limited') return { kind: 'gate' };
  const delayMs = Math.max(error.retryAfterMs ?? 0, chance * longestDelay(failures));
  if (error.code === 'idempotency_in_progress') return { kind: 'wait', delayMs };
  if (repetition === 'once' || !leavesResultUnknown(error) || failures > maxRetries) return END;
  return { kind: 'wait', delayMs };
}

/** Whether it is unknown, after this failure, if the API has executed the request. */
export function leavesResultUnknown({ code, status }: LaurelError): boolean {
  if (status !== undefined && status >= 300) return REPEATED_STATUSES.includes(status);
  return code === 'network' || code === 'timeout';
}

/**
 * Full jitter: the delay is anywhere below this, so that callers that failed together do not return
 * together.
 */
function longestDelay(failures: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1));
}
