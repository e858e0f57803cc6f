import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashApiKey } from './api-key.ts';
import { hashesUnder, isOutdated, peppersOf } from './peppers.ts';

const pepper = fc.record({
  version: fc.integer({ min: 1, max: 9 }),
  bytes: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
});
const peppers = fc
  .uniqueArray(pepper, { minLength: 1, maxLength: 4, selector: ({ version }) => version })
  .map(([current, ...accepted]) => peppersOf(current as NonNullable<typeof current>, accepted));

test('a secret is looked up under every pepper, the current one first', () => {
  fc.assert(
    fc.property(peppers, fc.string(), (all, secret) => {
      const hashes = hashesUnder(all, (bytes) => hashApiKey(bytes, secret));
      expect(hashes[0]).toEqual(hashApiKey(all.current.bytes, secret));
      expect(hashes).toEqual(all.all.map(({ bytes }) => hashApiKey(bytes, secret)));
    }),
  );
});

test('two replicas with different peppers never replace the same hash in turns', () => {
  fc.assert(
    fc.property(peppers, peppers, (one, other) => {
      // If one replica has replaced a hash, the other replica leaves that hash, or replaces it for
      // good.
      expect(isOutdated(one.current.version, other) && isOutdated(other.current.version, one)).toBe(false);
      expect(isOutdated(one.current.version, one)).toBe(false);
    }),
  );
});
