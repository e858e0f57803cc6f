import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldAscii, isAtMost, isStorable } from './text.ts';

test('a length limit counts code points: 255 emoji are 255 characters', () => {
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

test.each([
  ['as many emoji as characters', '😀'.repeat(255), true],
  ['one emoji more', '😀'.repeat(256), false],
  ['nothing', '', true],
  ['NUL', 'a\0', false],
  ['half a surrogate pair', 'a\ud83d', false],
])('the storage limit counts characters, not UTF-16 units: %s', (_what, text, expected) => {
  expect(isStorable(text, 255)).toBe(expected);
});

test('folding changes only the 26 letters of ASCII', () => {
  expect(foldAscii('Kate@EXAMPLE.com')).toBe('kate@example.com');
  // The Kelvin sign, the dotted capital I, the long s, and a capital with an accent.
  for (const other of ['\u212aate@example.com', '\u0130', '\u017f', '\u00c9']) expect(foldAscii(other)).toBe(other);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const expected = text
        .split('')
        .map((unit) => (unit >= 'A' && unit <= 'Z' ? unit.toLowerCase() : unit))
        .join('');
      expect(foldAscii(text)).toBe(expected);
    }),
  );
});
