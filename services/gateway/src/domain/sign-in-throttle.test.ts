import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideSignIn, hashSubject, type SignInFailures } from './sign-in-throttle.ts';

const LIMITS = {
  failuresPerPair: 5,
  failuresPerEmail: 20,
  failuresPerAddress: 100,
  windowMs: 900_000,
  firstDelayMs: 1_000,
  maxDelayMs: 60_000,
};
const NOW = new Date('2026-11-21T12:00:00.000Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const after = (ms: number) => new Date(NOW.getTime() + ms);
const NONE = { count: 0, newest: null };
const some = (count: number, newest = NOW) => ({ count, newest });
const failed = (failures: Partial<SignInFailures>): SignInFailures => ({
  isKnownClient: false,
  ofPair: NONE,
  ofEmail: NONE,
  ofAddress: NONE,
  ...failures,
});

describe('sign-in throttle', () => {
  test('a sign-in is admitted below the limits of failures, or once its wait is over', () => {
    for (const failures of [
      failed({}),
      failed({ ofPair: some(4), ofEmail: some(19), ofAddress: some(99) }),
      failed({ ofPair: some(5, ago(1_000)) }),
      failed({ ofPair: some(500, ago(60_000)) }),
    ]) {
      expect(decideSignIn(failures, LIMITS, NOW)).toEqual({ kind: 'admitted' });
    }
  });

  test('a limited sign-in returns the limit that applied and the time to wait', () => {
    expect(decideSignIn(failed({ ofPair: some(5, ago(1)) }), LIMITS, NOW)).toEqual({
      kind: 'limited',
      limit: 5,
      retryAfterSeconds: 1,
      resetAt: after(999),
    });
    expect(decideSignIn(failed({ ofPair: some(8), ofEmail: some(24) }), LIMITS, NOW)).toEqual({
      kind: 'limited',
      limit: 20,
      retryAfterSeconds: 16,
      resetAt: after(16_000),
    });
    expect(decideSignIn(failed({ ofAddress: some(200), ofEmail: some(24) }), LIMITS, NOW)).toMatchObject({
      limit: 100,
      retryAfterSeconds: 60,
    });
  });

  const failures = fc.record({
    count: fc.integer({ min: 0, max: 300 }),
    newest: fc.option(fc.integer({ min: 0, max: 900_000 }).map(ago)),
  });
  const all = fc.record({ isKnownClient: fc.boolean(), ofPair: failures, ofEmail: failures, ofAddress: failures });

  test('failures elsewhere, or with another e-mail, never affect a known client', () => {
    fc.assert(
      fc.property(all, failures, failures, (one, ofEmail, ofAddress) => {
        const known = { ...one, isKnownClient: true };
        expect(decideSignIn({ ...known, ofEmail, ofAddress }, LIMITS, NOW)).toEqual(decideSignIn(known, LIMITS, NOW));
      }),
    );
  });

  test('a sign-in is admitted after the returned wait, which is at most a minute', () => {
    fc.assert(
      fc.property(all, (one) => {
        const decision = decideSignIn(one, LIMITS, NOW);
        if (decision.kind === 'admitted') return;
        expect(decision.retryAfterSeconds).toBeLessThanOrEqual(60);
        const then = after(decision.retryAfterSeconds * 1_000);
        expect(decideSignIn(one, LIMITS, then)).toEqual({ kind: 'admitted' });
      }),
    );
  });
});

test('failures are counted separately for an e-mail, for an address and for a pair of both', () => {
  const pepper = Buffer.alloc(32, 1);
  const hashes = (['email', 'address', 'pair'] as const).map((kind) => hashSubject(pepper, kind, 'x').toString('hex'));
  expect(new Set(hashes).size).toBe(3);
  expect(hashSubject(pepper, 'email', 'x')).toHaveLength(32);
});
