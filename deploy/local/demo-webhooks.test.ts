import { expect, test } from 'vitest';
import { isSigned } from './demo-webhooks.ts';

// RFC 4231, test case 2: "Jefe" and "what do ya want for nothing?".
const BODY = Buffer.from('what do ya want for nothing?');
const SIGNATURE = 'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';

test('the demo accepts a webhook by the HMAC of its raw bytes under the secret as it was shown, and by nothing else', () => {
  expect(isSigned(BODY, 'Jefe', SIGNATURE)).toBe(true);
  expect(isSigned(Buffer.concat([BODY, Buffer.from('\n')]), 'Jefe', SIGNATURE)).toBe(false);
  expect(isSigned(BODY, 'jefe', SIGNATURE)).toBe(false);
  for (const forged of [undefined, '', SIGNATURE.slice(0, -1), SIGNATURE.toUpperCase(), SIGNATURE.slice(7)])
    expect(isSigned(BODY, 'Jefe', forged)).toBe(false);
});
