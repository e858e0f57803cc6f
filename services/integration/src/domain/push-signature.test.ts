import { signWebhook } from '@laurel/signature';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSigned, isWellFormedSignature, NO_SECRETS, type SigningSecrets } from './push-signature.ts';

const CURRENT = 'a'.repeat(64);
const PREVIOUS = 'b'.repeat(64);
const BOTH: SigningSecrets = { current: CURRENT, previous: PREVIOUS };
const DUMMY_SECRET = '0'.repeat(64);
const body = Buffer.from('{"score":1}');

/** Whether the push verifies, and the body length of each HMAC that this computed. */
function verify(signature: string, secrets: SigningSecrets, of: Uint8Array = body) {
  const hmacs: number[] = [];
  const verified = isSigned({ body: of, signature }, secrets, (secret, bytes) => {
    hmacs.push(bytes.length);
    return signWebhook(secret, bytes);
  });
  return { verified, hmacs };
}

/** The signature of a partner who decodes the secret as hex, although it is a text. */
const UNDER_BYTES = signWebhook(Buffer.from(CURRENT, 'hex').toString('latin1'), body);

const FULL_WORK = [body.length, body.length];

describe('the signature of a push', () => {
  it('a push verifies with the current secret, and with the previous one until the partner retires it', () => {
    expect(verify(signWebhook(CURRENT, body), BOTH)).toEqual({ verified: true, hmacs: FULL_WORK });
    expect(verify(signWebhook(PREVIOUS, body), BOTH)).toEqual({ verified: true, hmacs: FULL_WORK });
    const retired = { current: CURRENT, previous: null };
    expect(verify(signWebhook(PREVIOUS, body), retired)).toEqual({ verified: false, hmacs: FULL_WORK });
    expect(verify(signWebhook(CURRENT, body), retired)).toEqual({ verified: true, hmacs: FULL_WORK });
  });

  it.each([
    ['no header', ''],
    ['another scheme', `sha512=${'0'.repeat(64)}`],
    ['another scheme in upper case', `SHA512=${signWebhook(CURRENT, body).slice(7)}`],
    ['a letter that case-folds to one of the scheme', `\u017fha256=${signWebhook(CURRENT, body).slice(7)}`],
    ['the upper-case signature under another secret', signWebhook('c'.repeat(64), body).toUpperCase()],
    ['a digit too few', signWebhook(CURRENT, body).slice(0, -1)],
    ['a digit too many', `${signWebhook(CURRENT, body)}0`],
    ['a trailing newline', `${signWebhook(CURRENT, body)}\n`],
    ['two signatures', `${signWebhook(CURRENT, body)}, ${signWebhook(CURRENT, body)}`],
    ['the signature under another secret', signWebhook('c'.repeat(64), body)],
    ['the digits without their scheme', signWebhook(CURRENT, body).slice(7)],
    ['a signature whose key is the bytes that the secret’s digits stand for', UNDER_BYTES],
    ['characters beyond ASCII', `sha256=${'é'.repeat(64)}`],
  ])('a push with %s does not verify, at the same cost', (_name, signature) => {
    expect(verify(signature, BOTH)).toEqual({ verified: false, hmacs: FULL_WORK });
    expect(verify(signature, NO_SECRETS)).toEqual({ verified: false, hmacs: FULL_WORK });
  });

  it('a signature verifies whatever the case of its letters', () => {
    const cased = fc
      .func(fc.boolean())
      .map(
        (isUpper) => (text: string) =>
          Array.from(text, (letter, at) => (isUpper(at) ? letter.toUpperCase() : letter)).join(''),
      );
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom(CURRENT, PREVIOUS), cased, (bytes, secret, inCase) => {
        const signature = inCase(signWebhook(secret, bytes));
        expect(isWellFormedSignature(signature)).toBe(true);
        expect(verify(signature, BOTH, bytes)).toEqual({ verified: true, hmacs: [bytes.length, bytes.length] });
      }),
    );
    const upperCaseDigits = `sha256=${signWebhook(CURRENT, body).slice(7).toUpperCase()}`;
    expect(verify(upperCaseDigits, BOTH)).toEqual({ verified: true, hmacs: FULL_WORK });
  });

  it('no push verifies with the dummy that takes the place of a missing secret', () => {
    const signature = signWebhook(DUMMY_SECRET, body);
    expect(verify(signature, NO_SECRETS)).toEqual({ verified: false, hmacs: FULL_WORK });
    expect(verify(signature, { current: CURRENT, previous: null })).toEqual({ verified: false, hmacs: FULL_WORK });
  });

  it('a signature verifies exactly the bytes that were signed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, at, change) => {
        const signature = signWebhook(CURRENT, bytes);
        const changed = bytes.map((byte, index) => (index === at % bytes.length ? byte ^ change : byte));
        expect(verify(signature, BOTH, bytes).verified).toBe(true);
        expect(verify(signature, BOTH, changed).verified).toBe(false);
      }),
    );
  });
});
