import { describe, expect, test } from 'vitest';
import { LaurelError, type LaurelErrorCode } from './errors.ts';
import { decideRetry, type FailedTry } from './retry-policy.ts';

const base = { repetition: 'harmless', failures: 1, maxRetries: 8, chance: 0.5 } as const;

function decide(
  code: LaurelErrorCode,
  status: number | undefined,
  more: Partial<FailedTry> = {},
  retryAfterMs?: number,
) {
  return decideRetry({ ...base, error: new LaurelError(code, 'failed', { status, retryAfterMs }), ...more });
}

describe('what is repeated', () => {
  test.each<[LaurelErrorCode, number | undefined]>([
    ['network', undefined],
    ['timeout', undefined],
    ['network', 200],
    ['internal_error', 500],
    ['network', 500],
    ['network', 502],
    ['network', 503],
    ['network', 504],
  ])(
    '%s with status %s is repeated if a repetition is harmless, and never if it would lose a secret',
    (code, status) => {
      expect(decide(code, status).kind).toBe('wait');
      expect(decide(code, status, { repetition: 'once' })).toEqual({ kind: 'end' });
      expect(decide(code, status, { failures: 8 }).kind).toBe('wait');
      expect(decide(code, status, { failures: 9 })).toEqual({ kind: 'end' });
      expect(decide(code, status, { maxRetries: 0 })).toEqual({ kind: 'end' });
    },
  );

  test.each<[LaurelErrorCode, number]>([
    ['invalid_request', 400],
    ['unauthorized', 401],
    ['insufficient_funds', 402],
    ['blocked', 403],
    ['not_found', 404],
    ['attempt_already_settled', 409],
    ['idempotency_key_reused', 409],
    ['score_out_of_range', 422],
    ['network', 302],
    ['network', 413],
    ['network', 501],
  ])('%s with status %i ends the call', (code, status) => {
    expect(decide(code, status)).toEqual({ kind: 'end' });
  });

  test.each(['harmless', 'once'] as const)(
    'after any number of 429s, a call whose repetition is %s waits at the rate gate',
    (repetition) => {
      expect(decide('rate_limited', 429, { repetition, failures: 1_000 })).toEqual({ kind: 'gate' });
      expect(decide('rate_limited', 429, { repetition, maxRetries: 0 })).toEqual({ kind: 'end' });
    },
  );

  test('a try after idempotency_in_progress waits for at least the Retry-After', () => {
    expect(decide('idempotency_in_progress', 409, { failures: 0 }, 1_000)).toEqual({ kind: 'wait', delayMs: 1_000 });
    expect(decide('idempotency_in_progress', 409, { failures: 1_000 }, 1_000).kind).toBe('wait');
    expect(decide('idempotency_in_progress', 409, { maxRetries: 0 }, 1_000)).toEqual({ kind: 'end' });
  });
});

test('a delay is random, up to a limit that doubles from 250 ms to 8 s', () => {
  const delays = (chance: number) =>
    [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => {
      const decision = decide('network', undefined, { failures, chance });
      return decision.kind === 'wait' && decision.delayMs;
    });
  expect(delays(0)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(delays(0.5)).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
});

test('the Retry-After of a load balancer is used if it is longer than the delay', () => {
  expect(decide('network', 503, {}, 5_000)).toEqual({ kind: 'wait', delayMs: 5_000 });
});
