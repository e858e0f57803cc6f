import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ListedSigningKey, mergeSigningKeys } from './signing-key-list.ts';

const keyOf = (keyId: string, from: number, until: number | null): ListedSigningKey => ({
  keyId,
  publicKey: Buffer.from(keyId),
  from: new Date(from),
  until: until === null ? null : new Date(until),
});

describe('list of signing keys', () => {
  test('the list of signing keys has the keys of all services in the order of their first use', () => {
    const [a, b, c] = [keyOf('a', 3, null), keyOf('b', 1, 4), keyOf('c', 3, null)];
    expect(mergeSigningKeys([c, a, b])).toEqual([b, a, c]);
    expect(mergeSigningKeys([])).toEqual([]);
  });

  test('a key that several services share is listed once, for the period in which any of them used it', () => {
    expect(mergeSigningKeys([keyOf('a', 3, 5), keyOf('a', 1, 4)])).toEqual([keyOf('a', 1, 5)]);
    expect(mergeSigningKeys([keyOf('a', 1, 4), keyOf('a', 3, null)])).toEqual([keyOf('a', 1, null)]);
  });

  test('the list of signing keys covers exactly the instants in which a service used a key', () => {
    const key = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20), fc.option(fc.nat(20)))
      .map(([keyId, from, length]) => keyOf(keyId, from, length === null ? null : from + length + 1));
    fc.assert(
      fc.property(fc.array(key), (keys) => {
        const merged = mergeSigningKeys(keys);
        expect(mergeSigningKeys(keys.toReversed())).toEqual(merged);
        expect(merged.map(({ keyId }) => keyId).sort()).toEqual([...new Set(keys.map(({ keyId }) => keyId))].sort());
        for (const { keyId, from, until } of merged) {
          const same = keys.filter((other) => other.keyId === keyId);
          expect(from.getTime()).toBe(Math.min(...same.map((other) => other.from.getTime())));
          const ends = same.map((other) => other.until?.getTime() ?? Number.POSITIVE_INFINITY);
          expect(until?.getTime() ?? Number.POSITIVE_INFINITY).toBe(Math.max(...ends));
        }
      }),
    );
  });
});
