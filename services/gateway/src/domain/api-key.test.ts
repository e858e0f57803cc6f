import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { environmentOf, hashApiKey, isWellFormedApiKey, mintApiKey } from './api-key.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const environment = fc.constantFrom('test' as const, 'live' as const);
const random = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const mintedKey = fc.tuple(environment, random).map(([name, bytes]) => mintApiKey(name, bytes).key);

describe('API keys', () => {
  test('an API key whose bytes are all zero has the full length', () => {
    expect(mintApiKey('test', Buffer.alloc(32))).toEqual({
      key: `sk_test_${'0'.repeat(43)}1NyHUD`,
      prefix: 'sk_test_0000',
      last4: 'yHUD',
    });
  });

  test('the text of an API key contains the name of its environment', () => {
    expect(environmentOf(mintApiKey('test').key)).toBe('test');
    expect(environmentOf(mintApiKey('live').key)).toBe('live');
    expect(environmentOf('pk_test_1')).toBeNull();
    expect(environmentOf('')).toBeNull();
  });

  test('an API key is stored as a hash that depends on the pepper', () => {
    const key = mintApiKey('live').key;
    const hash = hashApiKey(Buffer.alloc(32, 1), key);
    expect(hash).toHaveLength(32);
    expect(hashApiKey(Buffer.alloc(32, 1), key)).toEqual(hash);
    expect(hashApiKey(Buffer.alloc(32, 2), key)).not.toEqual(hash);
  });

  test('a text that is not an API key is refused', () => {
    const key = mintApiKey('test').key;
    for (const text of [
      '',
      'sk_test_',
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      key.toUpperCase(),
      key.replace('test', 'live'),
    ]) {
      expect(isWellFormedApiKey(text), JSON.stringify(text)).toBe(false);
    }
  });
});

describe('laws of API keys', () => {
  test('every minted API key is well formed, has 57 characters and names its environment', () => {
    fc.assert(
      fc.property(environment, random, (name, bytes) => {
        const { key, prefix, last4 } = mintApiKey(name, bytes);
        return (
          isWellFormedApiKey(key) &&
          key.length === 57 &&
          environmentOf(key) === name &&
          key.startsWith(prefix) &&
          key.endsWith(last4)
        );
      }),
    );
  });

  test('different random bytes make different API keys', () => {
    fc.assert(
      fc.property(
        random,
        random,
        (one, other) => one.equals(other) === (mintApiKey('test', one).key === mintApiKey('test', other).key),
      ),
    );
  });

  test('one wrong character in an API key is always detected', () => {
    fc.assert(
      fc.property(
        mintedKey,
        fc.nat(56),
        fc.oneof(fc.constantFrom(...ALPHABET), fc.string({ minLength: 1, maxLength: 1 })),
        (key, at, character) => {
          const typo = key.slice(0, at) + character + key.slice(at + 1);
          return typo === key || !isWellFormedApiKey(typo);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('two swapped neighbours in an API key are always detected', () => {
    fc.assert(
      fc.property(mintedKey, fc.nat(55), (key, at) => {
        const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
        return swapped === key || !isWellFormedApiKey(swapped);
      }),
      { numRuns: 2_000 },
    );
  });
});
