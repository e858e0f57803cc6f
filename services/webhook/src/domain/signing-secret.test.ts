import { expect, it } from 'vitest';
import { newSigningSecret, secretOwner } from './signing-secret.ts';

it('a signing secret is whsec_ and 64 hex characters', () => {
  const secrets = Array.from({ length: 100 }, newSigningSecret);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(new Set(secrets).size).toBe(100);
});

it('an encrypted signing secret is bound to its endpoint', () => {
  expect(secretOwner('11111111-1111-7111-8111-111111111111')).toBe('endpoint:11111111-1111-7111-8111-111111111111');
});
