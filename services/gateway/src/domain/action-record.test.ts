import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeActionCursor, encodeActionCursor } from './action-cursor.ts';
import { recordedMembersOf, recordOf } from './action-record.ts';

test('a record of an action names secret members and contains no secret, at any depth', () => {
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

test('a record of an action is bounded, and a longer one is replaced by its digest', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40_000 }), (length) => {
      const text = recordOf({ text: 'ä'.repeat(length) }) ?? '';
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024);
      const whole = Buffer.byteLength(JSON.stringify({ text: 'ä'.repeat(length) }));
      if (whole > 16 * 1024) expect(JSON.parse(text)).toEqual({ omitted_bytes: whole, sha256: expect.any(String) });
    }),
  );
});

test('a record of a body keeps only the named members, whatever else was sent or misspelt', () => {
  expect(recordedMembersOf({ email: 'e', password: 'p', pasword: 'p' }, ['email'])).toEqual({ email: 'e' });
  expect(recordedMembersOf('text', ['email'])).toBeUndefined();
  expect(recordedMembersOf({ a: 1 }, undefined)).toEqual({ a: 1 });
});

test('a cursor of actions reads back as its position, and no other text reads as one', () => {
  const instant = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
  fc.assert(
    fc.property(instant, fc.uuid(), (at, id) => {
      expect(decodeActionCursor(encodeActionCursor({ at, id }))).toEqual({ at, id });
    }),
  );
  const id = '01a1fda2-cf3f-73c9-8ad5-9cf07a8ae5d3';
  for (const key of [
    ['2026-02-30T00:00:00.000Z', id],
    ['2026-11-22', id],
    ['2026-11-22T00:00:00.000Z', 'x'],
    [id],
    {},
  ]) {
    expect(decodeActionCursor(Buffer.from(JSON.stringify(key)).toString('base64url'))).toBeNull();
  }
  expect(decodeActionCursor('nonsense')).toBeNull();
});
