import { expect, test } from 'vitest';
import { isPlayerRef } from './player-ref.ts';

test.each([
  ['one character', 'a'],
  ['255 characters', 'a'.repeat(255)],
  ['255 characters of two UTF-16 units', '🎯'.repeat(255)],
  ['white space', ' '],
])('a player_ref may be %s', (_what, text) => {
  expect(isPlayerRef(text)).toBe(true);
});

test.each([
  ['empty', ''],
  ['256 characters', 'a'.repeat(256)],
  ['text with NUL', 'a\0b'],
  ['text with half a surrogate pair', 'a\ud83d'],
])('a player_ref may not be %s', (_what, text) => {
  expect(isPlayerRef(text)).toBe(false);
});
