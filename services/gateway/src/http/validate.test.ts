import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readQuery } from './validate.ts';

describe('a query', () => {
  test.each([
    ['twice', '/v1/challenges?status=all&status=all'],
    ['twice, once in percent-encoding', '/v1/challenges?status=all&st%61tus=live'],
    ['twice, both without a value', '/v1/challenges?status&status'],
    ['that no route knows, twice', '/v1/challenges?player_ref=a&utm=1&utm=2'],
  ])('a query with a parameter %s is refused', (_what, url) => {
    expect(readQuery(url)).toBeNull();
  });

  test('a query is read verbatim, and refused exactly when it names a parameter twice', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 2 }), text), { maxLength: 5 }), (pairs) => {
        const query = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
        const names = new Set(pairs.map(([name]) => name));
        const read = readQuery(`/v1/challenges?${query}`);
        expect(read === null ? null : Object.entries(read)).toEqual(
          names.size < pairs.length ? null : Object.entries(Object.fromEntries(pairs)),
        );
      }),
    );
  });
});
