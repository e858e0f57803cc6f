import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, decodeInstant, encodeCursor, pageSize } from './page-cursor.ts';

describe('page cursors', () => {
  it('a page cursor decodes to the key that was encoded', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (key) => {
        expect(decodeCursor(encodeCursor(key), key.length)).toEqual(key);
      }),
    );
  });

  it('any other text decodes to no page cursor', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const key = decodeCursor(text, 2);
        if (key !== null) expect(key).toHaveLength(2);
      }),
    );
    expect(decodeCursor(encodeCursor(['one']), 2)).toBeNull();
    expect(decodeCursor(Buffer.from('[1,2]').toString('base64url'), 2)).toBeNull();
    expect(decodeCursor('', 1)).toBeNull();
  });
});

describe('an instant in a cursor', () => {
  it('an instant in a cursor decodes to the instant that was encoded', () => {
    const dates = fc.date({ min: new Date('2000-01-01'), max: new Date('2999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        expect(decodeInstant(date.toISOString())).toEqual(date);
      }),
    );
  });

  it.each([
    '',
    '0',
    'infinity',
    '2026-02-31T00:00:00.000Z',
    '2026-02-29T00:00:00.000Z',
    '2026-04-31T12:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '2026-01-01T00:00:60.000Z',
    '2026-01-01T00:00:00Z',
    '2026-01-01',
    '1999-12-31T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
    '+275000-11-21T12:00:00.000Z',
    '300000-01-01T00:00:00.000Z',
    '-000001-01-01T00:00:00.000Z',
  ])('%j is no instant of a cursor', (text) => {
    expect(decodeInstant(text)).toBeNull();
  });
});

describe('pageSize', () => {
  it('pageSize returns the default for an unset size and limits any other to its bounds', () => {
    expect([0, -5, 1, 200, 201].map((requested) => pageSize(requested, 200))).toEqual([50, 1, 1, 200, 200]);
  });
});
