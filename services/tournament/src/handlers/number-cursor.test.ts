import { encodeCursor } from '@laurel/values/cursor';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeNumber, encodeNumber, MAX_NUMBER } from './number-cursor.ts';

describe('the cursor of a numbered list', () => {
  it('the cursor of a numbered list decodes to the number that was encoded', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_NUMBER }), (number) => {
        expect(decodeNumber(encodeNumber(number))).toBe(number);
      }),
    );
  });

  it('a text that is not a cursor of a numbered list decodes to no number', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const number = decodeNumber(text);
        if (number !== null) expect(encodeNumber(number)).toBe(encodeCursor([`${number}`]));
      }),
    );
    for (const text of ['', '0', '-1', '1.5', '01', '1e3', 'x', `${MAX_NUMBER + 1}`, '99999999999']) {
      expect(decodeNumber(encodeCursor([text]))).toBeNull();
    }
    expect(decodeNumber('nonsense')).toBeNull();
    expect(decodeNumber(encodeCursor(['1', '2']))).toBeNull();
  });
});
