import { expect, test } from 'vitest';
import { signatureOf } from './demo-push.ts';

// RFC 4231, test case 2.
test('the demo signs the raw bytes of a push with the secret as it was shown', () => {
  const signature = 'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  expect(signatureOf('what do ya want for nothing?', 'Jefe')).toBe(signature);
});
