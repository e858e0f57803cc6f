import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './key-cursor.ts';

describe('page cursors', () => {
  it('a page cursor decodes to the key that was encoded', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (key) => {
        expect(decodeCursor(encodeCursor(key), key.length)).toEqual(key);
      }),
    );
  });

  it('a text that is not a page cursor decodes to null', () => {
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
