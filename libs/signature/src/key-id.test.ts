import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyIdOf } from './key-id.ts';
import { createSigner } from './signature.ts';

test('the id of a key is its thumbprint, as in RFC 8037, appendix A.3', () => {
  const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
  expect(keyIdOf(createSigner(seed).publicKey)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
});

test('bytes that are not an Ed25519 key have no key id', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect(keyIdOf(publicKey.export({ format: 'der', type: 'spki' }))).toBeNull();
  expect(keyIdOf(Buffer.alloc(44, 1))).toBeNull();
});

test('an encoding of a key other than its DER has no key id', () => {
  const { publicKey } = createSigner(Buffer.alloc(32));
  for (const unusedBits of [1, 2, 7]) {
    const altered = Buffer.from(publicKey);
    altered[11] = unusedBits;
    expect(keyIdOf(altered)).toBeNull();
  }
  expect(keyIdOf(Buffer.concat([publicKey, Buffer.of(0)]))).toBeNull();
});
