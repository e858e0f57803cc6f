import { expect, test } from 'vitest';
import { missingPlayerFields } from './search.ts';

const PLAYER = { player_ref: 'ana', program_id: '0198f2a1-5031-7190-ad21-6bfd27e1bae3', environment: 'test' } as const;

test('a player is looked up by ref, program and environment together', () => {
  expect(missingPlayerFields(PLAYER)).toEqual([]);
  expect(missingPlayerFields({ player_ref: 'ana' })).toEqual(['program', 'environment']);
  expect(missingPlayerFields({ ...PLAYER, player_ref: undefined })).toEqual(['player']);
});

test('filters without any part of a player are complete', () => {
  expect(missingPlayerFields({})).toEqual([]);
  expect(missingPlayerFields({ email: 'ana@example.com', flag: 'blocked' })).toEqual([]);
});
