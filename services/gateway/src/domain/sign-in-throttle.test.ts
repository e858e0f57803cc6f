import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideSignIn, hashSubject, networkOf } from './sign-in-throttle.ts';

const LIMITS = { failuresPerEmail: 10, failuresPerAddress: 100, windowMs: 900_000 };
const NOW = new Date('2026-11-21T12:00:00.000Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const after = (ms: number) => new Date(NOW.getTime() + ms);

describe('a sign-in', () => {
  test('is admitted while neither its e-mail nor its address is full', () => {
    expect(decideSignIn({ ofEmail: null, ofAddress: null }, LIMITS, NOW)).toEqual({ kind: 'admitted' });
    expect(decideSignIn({ ofEmail: ago(900_000), ofAddress: ago(900_001) }, LIMITS, NOW)).toEqual({ kind: 'admitted' });
  });

  test('is told which limit it meets, and when the oldest failure that counts is old enough', () => {
    expect(decideSignIn({ ofEmail: ago(899_001), ofAddress: null }, LIMITS, NOW)).toEqual({
      kind: 'limited',
      limit: 10,
      retryAfterSeconds: 1,
      resetAt: after(999),
    });
    expect(decideSignIn({ ofEmail: null, ofAddress: ago(1_000) }, LIMITS, NOW)).toEqual({
      kind: 'limited',
      limit: 100,
      retryAfterSeconds: 899,
      resetAt: after(899_000),
    });
  });

  test('that meets both is told the one that lasts longer', () => {
    expect(decideSignIn({ ofEmail: ago(2_000), ofAddress: ago(1_000) }, LIMITS, NOW)).toMatchObject({ limit: 100 });
    expect(decideSignIn({ ofEmail: ago(1_000), ofAddress: ago(2_000) }, LIMITS, NOW)).toMatchObject({ limit: 10 });
  });

  test('that waits as long as it is told is admitted', () => {
    const failedAt = fc.option(fc.integer({ min: -5_000, max: 2_000_000 }).map(ago));
    fc.assert(
      fc.property(failedAt, failedAt, (ofEmail, ofAddress) => {
        const decision = decideSignIn({ ofEmail, ofAddress }, LIMITS, NOW);
        if (decision.kind === 'admitted') return;
        const then = after(decision.retryAfterSeconds * 1_000);
        expect(decideSignIn({ ofEmail, ofAddress }, LIMITS, then)).toEqual({ kind: 'admitted' });
      }),
    );
  });
});

describe('one client', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:DB8:0:12:a:b:c:d', '2001:db8:0:12::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('%s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test('has one network however its address is written', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const full = groups.map((value) => value.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${full}]`).hostname.slice(1, -1);
        expect(networkOf(full)).toBe(networkOf(short));
      }),
    );
  });
});

test('an e-mail and an address never share a count', () => {
  const pepper = Buffer.alloc(32, 1);
  expect(hashSubject(pepper, 'email', 'x')).not.toEqual(hashSubject(pepper, 'address', 'x'));
  expect(hashSubject(pepper, 'email', 'x')).toHaveLength(32);
});
