import { verify } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { composeHeaders } from './send-headers.ts';

const ID = '01900000-0000-7000-8000-000000000001';
const secrets = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('hex')}`);

test('a send has exactly the expected headers', () => {
  const send = { deliveryId: ID, eventType: 'attempt.settled', body: Buffer.from('{}') };
  expect(composeHeaders(send, `whsec_${'ab'.repeat(32)}`, new Date('2026-03-04T05:06:07.989Z'))).toEqual({
    'Content-Type': 'application/json',
    'User-Agent': 'Laurel-Webhooks/1',
    // printf '{}' | openssl dgst -sha256 -hmac whsec_abab...
    'X-Webhook-Signature': 'sha256=95c13d79f4f9a3298a39b1393d4bf78d7b3222d9f882e1578e45b7ceb8985da0',
    'X-Webhook-Event': 'attempt.settled',
    'X-Webhook-Delivery-Id': ID,
    'webhook-id': ID,
    'webhook-timestamp': '1772600767',
    'webhook-signature': 'v1,evifBCY+ocYB40J1evyL/YEKk6MfdOwoKZMMBvpW4g4=',
  });
});

test('the signatures of a send verify with the libraries that receivers use', async () => {
  await fc.assert(
    fc.asyncProperty(secrets, fc.json(), async (secret, text) => {
      const headers = composeHeaders({ deliveryId: ID, eventType: 'x', body: Buffer.from(text) }, secret, new Date());
      const webhook = new Webhook(secret);
      expect(webhook.verify(text, headers)).toEqual(JSON.parse(text));
      expect(() => webhook.verify(`${text} `, headers)).toThrow();
      const signature = headers['X-Webhook-Signature'] ?? '';
      expect(await verify(secret, text, signature)).toBe(true);
      expect(await verify(secret, `${text} `, signature)).toBe(false);
    }),
  );
});
