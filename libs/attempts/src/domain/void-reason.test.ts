import { expect, test } from 'vitest';
import { checkVoidReason } from './void-reason.ts';

test('the reason of a void has 1 to 1,000 characters, where an emoji counts as one', () => {
  for (const reason of ['x', 'x'.repeat(1_000), '🎯'.repeat(1_000)]) expect(checkVoidReason(reason)).toBeNull();
  for (const reason of ['', 'x'.repeat(1_001), '🎯'.repeat(1_001), 'a\0', '\ud83d']) {
    expect(checkVoidReason(reason)).toMatchObject({ code: 'invalid_request' });
  }
});
