import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtMost } from './text.ts';

test('characters are code points: 255 emoji are 255 characters, 256 are one too many', () => {
  expect(isAtMost('😀'.repeat(255), 255)).toBe(true);
  expect(isAtMost('😀'.repeat(256), 255)).toBe(false);
  expect(isAtMost('x'.repeat(256), 255)).toBe(false);
});

test('the length check agrees with counting code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(12), (text, characters) => {
      expect(isAtMost(text, characters)).toBe([...text].length <= characters);
    }),
  );
});
