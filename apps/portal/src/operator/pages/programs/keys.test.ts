import { expect, test } from 'vitest';
import type { Environment, ProgramKey } from '../../../api/api-types.ts';
import { lastUse } from './keys.ts';

test('the last use of an environment is the latest use of any of its keys', () => {
  const keys = [
    keyOf('test', '2026-11-21T10:00:00.000Z'),
    keyOf('test', '2026-11-23T10:00:00.000Z'),
    keyOf('test', null),
    keyOf('live', '2026-11-25T10:00:00.000Z'),
  ];
  expect(lastUse(keys, 'test')).toBe('2026-11-23T10:00:00.000Z');
  expect(lastUse(keys, 'live')).toBe('2026-11-25T10:00:00.000Z');
});

test('the last use is missing for an environment whose keys were never used', () => {
  expect(lastUse([keyOf('test', null)], 'test')).toBeNull();
  expect(lastUse([], 'live')).toBeNull();
});

function keyOf(environment: Environment, last_used_at: string | null): ProgramKey {
  return { environment, prefix: 'lk', last4: 'abcd', created_at: '2026-11-20T10:00:00.000Z', last_used_at };
}
