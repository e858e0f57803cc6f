import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSigner } from './signature.ts';

const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');

describe('a signer', () => {
  it('a signer derives the public key of RFC 8032, test 1, from its seed', () => {
    const raw = createSigner(SEED).publicKey.subarray(-32).toString('hex');
    expect(raw).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
  });

  it('a signer signs the same canonical form for any order of the members', () => {
    const signer = createSigner(SEED);
    const one = signer.sign({ b: 1, a: [true, null, 'é'] });
    expect(one.canonical).toBe(`{"a":[true,null,"é"],"b":1,"key_id":"${signer.keyId}"}`);
    expect(signer.sign({ a: [true, null, 'é'], b: 1.0, key_id: 'another' })).toEqual(one);
    const key = createPublicKey({ key: signer.publicKey, format: 'der', type: 'spki' });
    expect(verify(null, Buffer.from(one.canonical), key, one.signature)).toBe(true);
  });

  it('a signer refuses a seed of another length', () => {
    expect(() => createSigner(Buffer.alloc(31))).toThrow(RangeError);
  });
});
