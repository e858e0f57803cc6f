import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordedMembersOf, recordOf } from './action-record.ts';

test('a record of an action contains no secret, at any depth', () => {
  const value = {
    name: 'Arcade',
    test_key: 'sk_test_x',
    a: [{ password: 'p', b: { signing_secret: { c: 's' }, token: 't' } }],
  };
  expect(JSON.parse(recordOf(value) ?? '')).toEqual({
    name: 'Arcade',
    test_key: '[redacted]',
    a: [{ password: '[redacted]', b: { signing_secret: '[redacted]', token: '[redacted]' } }],
  });
});

test('a record of an action beyond the maximum size is replaced by its digest', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40_000 }), (length) => {
      const text = recordOf({ text: 'ä'.repeat(length) }) ?? '';
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024);
      const whole = Buffer.byteLength(JSON.stringify({ text: 'ä'.repeat(length) }));
      if (whole > 16 * 1024) expect(JSON.parse(text)).toEqual({ omitted_bytes: whole, sha256: expect.any(String) });
    }),
  );
});

test('a record of a body keeps only the named members', () => {
  expect(recordedMembersOf({ email: 'e', password: 'p', pasword: 'p' }, ['email'])).toEqual({ email: 'e' });
  expect(recordedMembersOf('text', ['email'])).toBeUndefined();
  expect(recordedMembersOf({ a: 1 }, undefined)).toEqual({ a: 1 });
});
