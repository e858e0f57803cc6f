import { sign, verify } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signWebhook } from './webhook-signature.ts';

const SECRET = `whsec_${'0123456789abcdef'.repeat(4)}`;
const BODY = Buffer.from('{"event":"webhook.test","data":{"message":"Grüße"}}', 'utf8');

describe('the signature of a webhook', () => {
  it('the signature of a webhook equals that of known test vectors', () => {
    // RFC 4231, test case 2.
    expect(signWebhook('Jefe', Buffer.from('what do ya want for nothing?'))).toBe(
      'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
    // The example in GitHub's documentation of the same scheme.
    expect(signWebhook("It's a Secret to Everybody", Buffer.from('Hello, World!'))).toBe(
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    );
    // `printf '%s' '<body>' | openssl dgst -sha256 -hmac '<secret>'`
    expect(signWebhook(SECRET, BODY)).toBe('sha256=a7a7b759dd7070a70b60aef9a50f12a3042fd39b96fa2c989518ae9bb32923f9');
  });

  it('another implementation makes the same webhook signature', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        async (secret, body) => {
          const signature = signWebhook(secret, Buffer.from(body, 'utf8'));
          expect(signature).toBe(await sign(secret, body));
          expect(await verify(secret, body, signature)).toBe(true);
        },
      ),
    );
  });

  it('the signature of a webhook covers every byte of the body and the whole secret', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        expect(signWebhook(SECRET, a) === signWebhook(SECRET, b)).toBe(Buffer.from(a).equals(b));
        expect(signWebhook(SECRET.slice('whsec_'.length), a)).not.toBe(signWebhook(SECRET, a));
      }),
    );
  });
});
