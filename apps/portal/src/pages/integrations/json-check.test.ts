import { describe, expect, test } from 'vitest';
import { checkDescriptor, checkJson, hasRoundedNumber } from './json-check.ts';

describe('the check of typed JSON', () => {
  test('the check accepts as a descriptor only an object of at most 16 KiB', () => {
    expect(checkDescriptor('{}')).toEqual({ value: {} });
    for (const text of ['', '{', '[]', 'null', '"x"', `{"x-a":"${'é'.repeat(8 * 1024)}"}`]) {
      expect(checkDescriptor(text).error, text.slice(0, 20)).toBeDefined();
    }
  });

  test('the check accepts any JSON as a sample', () => {
    expect(checkJson('[1]')).toEqual({ value: [1] });
    expect(checkJson(' ').error).toBe('Enter JSON.');
  });

  test('a whole number that a double cannot hold is reported at any depth', () => {
    expect(hasRoundedNumber(JSON.parse('{"map":{"when":[{"in":[18446744073709551615]}]}}'))).toBe(true);
    expect(hasRoundedNumber({ map: { score: '/18446744073709551615' }, n: [1.5, 9_007_199_254_740_991] })).toBe(false);
  });
});
