import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEncryption, DecryptionError, keyVersionOf, UnknownKeyError } from './index.ts';

const KEY = Buffer.alloc(32, 7);
const keyOf = (version: number, bytes: Uint8Array = Buffer.alloc(32, version)) => ({ version, bytes });
const under = (current: number, ...accepted: number[]) =>
  createEncryption({ current: keyOf(current), accepted: accepted.map((version) => keyOf(version)) });
const encryption = createEncryption({ current: { version: 1, bytes: KEY }, accepted: [] });
const versioned = under(70_000);
const text = fc.string({ unit: 'grapheme', maxLength: 200 });

describe('a sealed text', () => {
  it('a sealed text opens unchanged for its owner', () => {
    fc.assert(
      fc.property(text, text, (secret, owner) => {
        expect(encryption.decrypt(encryption.encrypt(secret, owner), owner)).toBe(secret);
      }),
    );
  });

  it('a sealed text is refused if any single bit was flipped', () => {
    for (const one of [encryption, versioned]) {
      const sealed = one.encrypt('whsec_0123456789abcdef', 'endpoint:1');
      for (let bit = 0; bit < sealed.length * 8; bit++) {
        const changed = Buffer.from(sealed);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => one.decrypt(changed, 'endpoint:1')).toThrow(DecryptionError);
      }
    }
  });

  it('a sealed text is refused for another owner, and under another key', () => {
    fc.assert(
      fc.property(text, text, text, fc.uint8Array({ minLength: 32, maxLength: 32 }), (secret, owner, other, key) => {
        fc.pre(owner !== other && !KEY.equals(key));
        const sealed = encryption.encrypt(secret, owner);
        expect(() => encryption.decrypt(sealed, other)).toThrow(DecryptionError);
        expect(() => createEncryption({ current: keyOf(1, key), accepted: [] }).decrypt(sealed, owner)).toThrow(
          DecryptionError,
        );
      }),
    );
  });

  it('a sealed text that was cut or extended is refused', () => {
    for (const one of [encryption, versioned]) {
      const sealed = one.encrypt('secret', 'owner');
      for (let length = 0; length < sealed.length; length++) {
        expect(() => one.decrypt(sealed.subarray(0, length), 'owner')).toThrow(DecryptionError);
      }
      expect(() => one.decrypt(Buffer.concat([sealed, Buffer.of(0)]), 'owner')).toThrow(DecryptionError);
    }
  });

  it('sealing the same text twice gives different sealed texts', () => {
    const sealed = Array.from({ length: 100 }, () => encryption.encrypt('secret', 'owner'));
    expect(new Set(sealed.map((bytes) => bytes.toString('hex'))).size).toBe(100);
    expect(sealed.some((bytes) => bytes.includes('secret'))).toBe(false);
  });

  it('this build opens a text that an earlier build sealed', () => {
    // Databases hold these bytes: a change of the format needs another first byte.
    const sealed = '01000102030405060708090a0b6be48a02787d9fae99f4c70c0b06bf5743974a9d55a7';
    expect(encryption.decrypt(Buffer.from(sealed, 'hex'), 'owner')).toBe('secret');
  });
});

describe('a change of the key', () => {
  const version = fc.integer({ min: 1, max: 2 ** 31 - 1 });

  it('a text that a former key sealed opens while that key is accepted', () => {
    fc.assert(
      fc.property(text, text, fc.uniqueArray(version, { minLength: 2, maxLength: 2 }), (secret, owner, versions) => {
        const [former = 0, current = 0] = versions.toSorted((a, b) => a - b);
        const sealed = under(former).encrypt(secret, owner);
        expect(under(former, current).decrypt(sealed, owner)).toBe(secret);
        const changed = under(current, former);
        expect(changed.decrypt(sealed, owner)).toBe(secret);
        const again = changed.reencrypt(sealed, owner);
        expect(under(current).decrypt(again ?? Buffer.of(), owner)).toBe(secret);
        expect(() => under(former).decrypt(again ?? Buffer.of(), owner)).toThrow(UnknownKeyError);
      }),
    );
  });

  it('a text under the current key or a later key is not sealed again', () => {
    expect(under(2, 1).reencrypt(under(2).encrypt('secret', 'owner'), 'owner')).toBeNull();
    expect(under(2, 3).reencrypt(under(3).encrypt('secret', 'owner'), 'owner')).toBeNull();
    expect(under(1, 2).reencrypt(under(2).encrypt('secret', 'owner'), 'owner')).toBeNull();
  });

  it('a text under an unconfigured key is refused with the version of that key', () => {
    const sealed = under(1).encrypt('secret', 'owner');
    expect(() => under(3, 2).decrypt(sealed, 'owner')).toThrow(new UnknownKeyError(1));
    expect(() => under(3, 2).reencrypt(sealed, 'owner')).toThrow(new UnknownKeyError(1));
    expect(() => under(3, 1).reencrypt(sealed, 'another')).toThrow(DecryptionError);
  });

  it('a wrong key under the version of the former key decrypts no text', () => {
    const sealed = under(2).encrypt('secret', 'owner');
    const wrong = createEncryption({ current: keyOf(3), accepted: [keyOf(2, Buffer.alloc(32, 9))] });
    expect(() => wrong.decrypt(sealed, 'owner')).toThrow(DecryptionError);
  });

  it('this build opens a text that an earlier build sealed with a key version', () => {
    const sealed = '020001117001bc7e7293267e29fde00063539a7c59098299cbab2612e22df4f8ac387de690ffd3';
    expect(under(70_000).decrypt(Buffer.from(sealed, 'hex'), 'owner')).toBe('secret');
  });

  it('the key version of a sealed text is readable without a key', () => {
    for (const version of [1, 2, 70_000]) expect(keyVersionOf(under(version).encrypt('secret', 'owner'))).toBe(version);
    for (const bytes of [[], [0], [2, 0, 0, 0], [3, 0, 0, 0, 1]]) {
      expect(() => keyVersionOf(Buffer.from(bytes))).toThrow(DecryptionError);
    }
  });

  it('no two keys share a version', () => {
    expect(under(2, 1, 3).versions).toEqual([2, 1, 3]);
    expect(() => under(2, 1, 2)).toThrow(TypeError);
  });
});

describe('what cannot be sealed', () => {
  it('a text without a UTF-8 form cannot be sealed', () => {
    expect(() => encryption.encrypt('\ud800', 'owner')).toThrow(TypeError);
    expect(() => encryption.encrypt('secret', '\ud800')).toThrow(TypeError);
  });

  it('a key of another length is refused', () => {
    for (const length of [0, 16, 31, 33]) {
      const [wrong, right] = [keyOf(1, Buffer.alloc(length)), keyOf(2)];
      expect(() => createEncryption({ current: wrong, accepted: [] })).toThrow(TypeError);
      expect(() => createEncryption({ current: right, accepted: [wrong] })).toThrow(TypeError);
    }
  });
});
