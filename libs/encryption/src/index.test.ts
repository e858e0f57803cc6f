import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEncryption, DecryptionError } from './index.ts';

const KEY = Buffer.alloc(32, 7);
const encryption = createEncryption(KEY);
const text = fc.string({ unit: 'grapheme', maxLength: 200 });

describe('a sealed text', () => {
  it('a sealed text opens unchanged for its owner', () => {
    fc.assert(
      fc.property(text, text, (secret, owner) => {
        expect(encryption.decrypt(encryption.encrypt(secret, owner), owner)).toBe(secret);
      }),
    );
  });

  it('a sealed text is refused when any single bit of it was flipped', () => {
    const sealed = encryption.encrypt('whsec_0123456789abcdef', 'endpoint:1');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => encryption.decrypt(changed, 'endpoint:1')).toThrow(DecryptionError);
    }
  });

  it('a sealed text is refused for another owner, and under another key', () => {
    fc.assert(
      fc.property(text, text, text, fc.uint8Array({ minLength: 32, maxLength: 32 }), (secret, owner, other, key) => {
        fc.pre(owner !== other && !KEY.equals(key));
        const sealed = encryption.encrypt(secret, owner);
        expect(() => encryption.decrypt(sealed, other)).toThrow(DecryptionError);
        expect(() => createEncryption(key).decrypt(sealed, owner)).toThrow(DecryptionError);
      }),
    );
  });

  it('a sealed text that was cut or extended is refused', () => {
    const sealed = encryption.encrypt('secret', 'owner');
    for (let length = 0; length < sealed.length; length++) {
      expect(() => encryption.decrypt(sealed.subarray(0, length), 'owner')).toThrow(DecryptionError);
    }
    expect(() => encryption.decrypt(Buffer.concat([sealed, Buffer.of(0)]), 'owner')).toThrow(DecryptionError);
  });

  it('a sealed text differs each time, and does not contain the plain text', () => {
    const sealed = Array.from({ length: 100 }, () => encryption.encrypt('secret', 'owner'));
    expect(new Set(sealed.map((bytes) => bytes.toString('hex'))).size).toBe(100);
    expect(sealed.some((bytes) => bytes.includes('secret'))).toBe(false);
  });

  it('a sealed text of an earlier build opens with this one', () => {
    // Databases hold these bytes: a change of the format needs another version byte.
    const sealed = '01000102030405060708090a0b6be48a02787d9fae99f4c70c0b06bf5743974a9d55a7';
    expect(encryption.decrypt(Buffer.from(sealed, 'hex'), 'owner')).toBe('secret');
  });
});

describe('what cannot be sealed', () => {
  it('a text without a UTF-8 form cannot be sealed', () => {
    expect(() => encryption.encrypt('\ud800', 'owner')).toThrow(TypeError);
    expect(() => encryption.encrypt('secret', '\ud800')).toThrow(TypeError);
  });

  it('a key of another length is refused', () => {
    for (const length of [0, 16, 31, 33]) expect(() => createEncryption(Buffer.alloc(length))).toThrow(TypeError);
  });
});
