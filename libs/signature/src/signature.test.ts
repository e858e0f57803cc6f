import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSigner, verifySignature } from './signature.ts';

const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');

describe('a signer', () => {
  it('a signer derives the public key of RFC 8032, test 1, from its seed', () => {
    const raw = createSigner(SEED).publicKey.subarray(-32).toString('hex');
    expect(raw).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
  });

  it('a signer signs the canonical form with the id of its key, whatever the order of the members', () => {
    const signer = createSigner(SEED);
    const one = signer.sign({ b: 1, a: [true, null, 'é'] });
    expect(one.canonical).toBe(`{"a":[true,null,"é"],"b":1,"key_id":"${signer.keyId}"}`);
    expect(signer.sign({ a: [true, null, 'é'], b: 1.0, key_id: 'another' })).toEqual(one);
    expect(verifySignature({ ...one, publicKey: signer.publicKey })).toBe(true);
  });

  it('a signer refuses a seed of another length', () => {
    expect(() => createSigner(Buffer.alloc(31))).toThrow(RangeError);
  });
});

describe('a signature', () => {
  it('a signature is valid for its document and key, and for no other text, key or signature', () => {
    const signer = createSigner(SEED);
    const { publicKey: otherKey } = createSigner(Buffer.alloc(32, 7));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(63), (document, index) => {
        const signed = signer.sign(document);
        const forged = Buffer.from(signed.signature);
        forged[index] = (forged[index] ?? 0) ^ 1;
        expect(verifySignature({ ...signed, publicKey: signer.publicKey })).toBe(true);
        expect(verifySignature({ ...signed, canonical: `${signed.canonical} `, publicKey: signer.publicKey })).toBe(
          false,
        );
        expect(verifySignature({ ...signed, signature: forged, publicKey: signer.publicKey })).toBe(false);
        expect(verifySignature({ ...signed, publicKey: otherKey })).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('a signature is not valid, and does not throw, when the key or the signature is malformed', () => {
    const signer = createSigner(SEED);
    const signed = signer.sign({});
    expect(verifySignature({ ...signed, publicKey: Buffer.from('no key') })).toBe(false);
    expect(verifySignature({ ...signed, signature: Buffer.alloc(3), publicKey: signer.publicKey })).toBe(false);
  });
});
