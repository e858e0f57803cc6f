import { hash } from 'node:crypto';
import * as server from '@laurel/signature';
import { sign as octokitSign, verify as octokitVerify } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { verifyWebhook, type WebhookRequest, WebhookVerificationError } from './verify-webhook.ts';
import { isSignature, signIntegrationBody, signWebhook } from './webhook-signature.ts';

const SECRET = `whsec_${'0123456789abcdef'.repeat(4)}`;
const BODY =
  '{"event":"challenge.suspended","timestamp":"2026-03-04T05:06:07.089Z","data":{"challenge_id":"c","name":"Grüße"}}';
const BYTES = new TextEncoder().encode(BODY);

async function requestOf(changes: Partial<WebhookRequest> = {}): Promise<WebhookRequest> {
  const signature = await signWebhook(BODY, SECRET);
  return { body: BYTES, headers: { 'x-webhook-signature': signature }, secrets: [SECRET], ...changes };
}

async function reasonOf(changes: Partial<WebhookRequest>): Promise<string> {
  const error = await verifyWebhook(await requestOf(changes)).then(
    () => expect.fail('the webhook was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof WebhookVerificationError)) throw error;
  expect(error.message).not.toContain(SECRET);
  return error.reason;
}

const signed = async (body: string) => ({ body, headers: { 'x-webhook-signature': await signWebhook(body, SECRET) } });

describe('verifyWebhook', () => {
  it('verifyWebhook returns the event, the delivery id and a key for deduplication', async () => {
    const headers = { ...(await requestOf()).headers, 'X-Webhook-Delivery-Id': 'd' };
    const view = new Uint8Array(BYTES.length + 2);
    view.set(BYTES, 1);
    const bodies = [BODY, BYTES, BYTES.slice().buffer, Buffer.from(BODY), view.subarray(1, -1)];
    const results = await Promise.all(bodies.map(async (body) => verifyWebhook(await requestOf({ body, headers }))));
    expect(results[0]).toEqual({ event: JSON.parse(BODY), deliveryId: 'd', dedupeKey: hash('sha256', BODY) });
    for (const result of results) expect(result).toEqual(results[0]);
  });

  it('verifyWebhook reads the digits of a signature in upper or lower case', async () => {
    const lower = await signWebhook(BODY, SECRET);
    const upper = `sha256=${lower.slice(7).toUpperCase()}`;
    const mixed = `sha256=${lower.slice(7, 39)}${lower.slice(39).toUpperCase()}`;
    for (const signature of [upper, mixed]) {
      const headers = { 'x-webhook-signature': signature };
      expect(await verifyWebhook(await requestOf({ headers }))).toMatchObject({ deliveryId: null });
      expect(await reasonOf({ headers, body: `${BODY} ` })).toBe('signature_mismatch');
      expect(await reasonOf({ headers, secrets: [`${SECRET}\n`] })).toBe('secret_malformed');
    }
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.array(fc.boolean()), (bytes, cases) => {
        const hex = Buffer.from(bytes).toString('hex');
        const spelled = [...hex].map((digit, at) => (cases[at % cases.length] ? digit.toUpperCase() : digit)).join('');
        expect(isSignature(`sha256=${spelled}`)).toBe(true);
        expect(isSignature(`SHA256=${spelled}`)).toBe(false);
        expect(isSignature([`sha256=${spelled}`])).toBe(false);
      }),
    );
  });

  it('verifyWebhook reads headers of Fetch and of Node, in any case', async () => {
    const signature = await signWebhook(BODY, SECRET);
    for (const headers of [
      new Headers({ 'X-Webhook-Signature': signature }),
      { 'X-WEBHOOK-SIGNATURE': signature },
      { 'x-webhook-signature': [signature] },
    ]) {
      expect(await verifyWebhook(await requestOf({ headers }))).toMatchObject({ deliveryId: null });
    }
  });

  it('verifyWebhook accepts any of several secrets', async () => {
    const changes = [
      [SECRET, 'whsec_new'],
      ['whsec_new', SECRET],
    ].map((secrets) => ({ secrets }));
    for (const change of changes)
      expect(await verifyWebhook(await requestOf(change))).toMatchObject({ deliveryId: null });
    await expect(verifyWebhook(await requestOf({ secrets: [] }))).rejects.toThrow(TypeError);
    await expect(verifyWebhook(await requestOf({ secrets: [''] }))).rejects.toThrow(TypeError);
  });

  it('verifyWebhook rejects with a TypeError for an argument that can only be a mistake', async () => {
    for (const change of [
      ...[SECRET, null, undefined, [null], [5], ['whsec_\ud800'], [[SECRET]], {}].map((secrets) => ({ secrets })),
      ...[null, undefined, 'x-webhook-signature'].map((headers) => ({ headers })),
      ...[null, Number.NaN, '60000', [1], -1].map((maxAgeMs) => ({ maxAgeMs })),
    ]) {
      const call = verifyWebhook(await requestOf(change as unknown as Partial<WebhookRequest>));
      await expect(call, JSON.stringify(change)).rejects.toThrow(TypeError);
    }
    for (const body of ['a\ud800', null, undefined, 5, [], {}] as string[]) {
      await expect(signWebhook(body, SECRET)).rejects.toThrow(TypeError);
      await expect(signIntegrationBody(body, SECRET)).rejects.toThrow(TypeError);
    }
    for (const secret of ['', null, undefined, [SECRET], 'a\ud800'] as string[])
      await expect(signWebhook(BODY, secret)).rejects.toThrow(TypeError);
    expect(await reasonOf({ body: `${BODY}\ud800` })).toBe('body_parsed');
    expect(await reasonOf({ headers: { 'x-webhook-signature': [['sha256=']] as never } })).toBe('signature_malformed');
  });

  it('verifyWebhook refuses each kind of invalid request with its own reason', async () => {
    const signature = await signWebhook(BODY, SECRET);
    const headersOf = (value: string | string[]) => ({ headers: { 'x-webhook-signature': value } });
    expect(await reasonOf({ body: JSON.parse(BODY) })).toBe('body_parsed');
    expect(await reasonOf({ body: undefined as never })).toBe('body_parsed');
    expect(await reasonOf({ headers: {} })).toBe('signature_missing');
    expect(await reasonOf({ headers: new Headers() })).toBe('signature_missing');
    for (const malformed of [
      '',
      signature.slice(7),
      signature.toUpperCase(),
      `${signature} `,
      `sha1=${signature.slice(7)}`,
      `sha256=${'é'.repeat(32)}`,
    ]) {
      expect(await reasonOf(headersOf(malformed))).toBe('signature_malformed');
    }
    expect(await reasonOf(headersOf([signature, signature]))).toBe('signature_malformed');
    expect(await reasonOf({ body: BODY.replace('Grüße', 'Gruesse') })).toBe('signature_mismatch');
    expect(await reasonOf({ body: JSON.stringify(JSON.parse(BODY), null, 1) })).toBe('signature_mismatch');
    expect(await reasonOf({ secrets: [SECRET.slice(0, -1), 'whsec_other'] })).toBe('signature_mismatch');
    for (const malformed of [
      SECRET.slice('whsec_'.length),
      `${SECRET}\n`,
      ` ${SECRET}`,
      `"${SECRET}"`,
      `'${SECRET}'\r\n`,
    ]) {
      expect(await reasonOf({ secrets: [malformed, 'whsec_other'] })).toBe('secret_malformed');
    }
    for (const body of [
      `\ufeff${BODY}`,
      BODY.replace('"event":', '"event":"webhook.test","event":'),
      BODY.replace('"name":', '"challenge_id":"d","name":'),
      BODY.replace('"c"', '"\\ud800"'),
      BODY.replace('"c"', '1e999'),
      BODY.replace('"c"', '['.repeat(100) + ']'.repeat(100)),
    ]) {
      expect(await reasonOf(await signed(body))).toBe('body_malformed');
    }
    for (const body of ['', '{', 'null', '[]', '{"event":"webhook.test"}', '{"event":1,"timestamp":"","data":{}}']) {
      expect(await reasonOf(await signed(body))).toBe('body_malformed');
    }
  });

  it('verifyWebhook reports a malformed secret only if its correct form signed the body', async () => {
    const changed = BODY.replace('Grüße', 'Gruesse');
    expect(await reasonOf({ secrets: [`${SECRET}\n`], body: changed })).toBe('signature_mismatch');
    expect(await reasonOf({ secrets: [`${SECRET.slice(0, -1)}\n`] })).toBe('signature_mismatch');
    const own = { 'x-webhook-signature': await signWebhook(BODY, ' a secret of my own\n') };
    expect(await verifyWebhook({ body: BODY, headers: own, secrets: [' a secret of my own\n'] })).toMatchObject({
      event: JSON.parse(BODY),
    });
  });

  it('verifyWebhook refuses an old event only if a maximum age is given', async () => {
    const body = JSON.stringify({ ...JSON.parse(BODY), timestamp: new Date(Date.now() - 60_000).toISOString() });
    expect(await reasonOf({ ...(await signed(body)), maxAgeMs: 59_000 })).toBe('too_old');
    expect(
      await reasonOf({ ...(await signed(BODY.replace('2026-03-04T05:06:07.089Z', 'then'))), maxAgeMs: 1e15 }),
    ).toBe('too_old');
    for (const age of [{ maxAgeMs: 600_000 }, {}]) {
      expect(await verifyWebhook(await requestOf({ ...(await signed(body)), ...age }))).toMatchObject({
        deliveryId: null,
      });
    }
  });
});

describe('the signature of a webhook', () => {
  it('the SDK, the server, @octokit/webhooks-methods and standardwebhooks agree on 1,000 random bodies', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (secret, body, other) => {
        const signature = await signWebhook(body, secret);
        expect(signature).toBe(server.signWebhook(secret, Buffer.from(body)));
        expect(signature).toBe(await octokitSign(secret, body));
        expect(await signIntegrationBody(body, secret)).toBe(signature);
        expect(await octokitVerify(secret, other, signature)).toBe(other === body);
        // standardwebhooks signs `id.timestamp.body` and prints base64; for the same key and
        // content its HMAC is the same.
        const standard = new StandardWebhook(Buffer.from(secret), { format: 'raw' });
        const theirs = standard.sign('id', new Date(1_000), body);
        const ours = await signWebhook(`id.1.${body}`, secret);
        expect(theirs).toBe(`v1,${Buffer.from(ours.slice('sha256='.length), 'hex').toString('base64')}`);
      }),
      { numRuns: 1_000 },
    );
  });

  it('verifyWebhook accepts exactly the bytes that the server signed', async () => {
    const secrets = fc.constantFrom(SECRET, 'whsec_other');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.uint8Array(), fc.boolean(), secrets, async (one, other, isSame, secret) => {
        const body = isSame ? one : other;
        const signature = server.signWebhook(SECRET, one);
        const reason = await reasonOf({ body, headers: { 'x-webhook-signature': signature }, secrets: [secret] });
        const isSigned = secret === SECRET && Buffer.from(body).equals(one);
        expect(reason).toBe(isSigned ? 'body_malformed' : 'signature_mismatch');
      }),
    );
  });
});
