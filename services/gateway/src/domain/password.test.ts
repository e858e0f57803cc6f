import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from './password.ts';

test('a password matches in every Unicode form of its letters', async () => {
  const composed = 'gef\u00e4hrlich lang';
  const decomposed = 'gefa\u0308hrlich lang';
  const passwordHash = await hashPassword(composed);
  expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword(decomposed, passwordHash)).toBe(true);
  for (const other of [
    ...[`${composed} `, ` ${composed}`, composed.slice(0, -1), composed.toUpperCase(), 'gefahrlich lang'],
  ]) {
    expect(await verifyPassword(other, passwordHash), other).toBe(false);
  }
  expect(await verifyPassword('', passwordHash)).toBe(false);
  expect(await hashPassword(composed)).not.toBe(passwordHash);
});
