import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor, pageSize } from './page-cursor.ts';

describe('page cursors', () => {
  it('read back as they were written', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (key) => {
        expect(decodeCursor(encodeCursor(key), key.length)).toEqual(key);
      }),
    );
  });

  it('read anything else as no cursor', () => {
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

describe('pageSize', () => {
  it('takes an unset size for the default and keeps any other within its bounds', () => {
    expect([0, -5, 1, 200, 201].map((asked) => pageSize(asked, 200))).toEqual([50, 1, 1, 200, 200]);
  });
});
