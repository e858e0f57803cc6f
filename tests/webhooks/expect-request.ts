import type { WebhookEventType } from '@laurel/sdk';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { Hook, HookRequest } from '../world.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The headers of the partner API in the API's order, then the headers of Standard Webhooks. */
const NAMED_HEADERS = [
  'Content-Type',
  'X-Webhook-Signature',
  'X-Webhook-Event',
  'X-Webhook-Delivery-Id',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];
/** The headers of any HTTP client. */
const OTHER_HEADERS = ['accept-encoding', 'connection', 'content-length', 'host', 'user-agent'];

/**
 * Checks a whole request against the contract and the served document: its target, headers, body,
 * and both signatures.
 */
export async function expectRequest(
  { endpoint, secret, contract }: Pick<Hook, 'endpoint' | 'secret' | 'contract'>,
  request: HookRequest,
  expected: { readonly event: WebhookEventType; readonly data: Record<string, unknown> },
): Promise<void> {
  const url = new URL(endpoint.url);
  expect(`${request.method} ${url.origin}${request.path}`).toBe(`POST ${endpoint.url}`);

  const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
  const isNamed = (name: string) => NAMED_HEADERS.includes(name);
  expect(names.filter(isNamed)).toEqual(NAMED_HEADERS);
  expect(
    names
      .filter((name) => !isNamed(name))
      .map((name) => name.toLowerCase())
      .sort(),
  ).toEqual(OTHER_HEADERS);
  const { headers } = request;
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(request.body.length),
    'accept-encoding': 'identity',
    host: url.host,
    'user-agent': 'Laurel-Webhooks/1',
    'x-webhook-event': expected.event,
    'x-webhook-delivery-id': expect.stringMatching(UUID),
    'webhook-id': headers['x-webhook-delivery-id'],
  });
  expect(Math.abs(Number(headers['webhook-timestamp']) - request.receivedAt / 1_000)).toBeLessThan(10);

  expect(request.json).toEqual({ ...expected, timestamp: expect.stringMatching(TIMESTAMP) });
  expect(Object.keys(request.json)).toEqual(['event', 'timestamp', 'data']);
  expect(Date.parse(request.json.timestamp)).toBeLessThanOrEqual(request.receivedAt);

  contract.checkWebhook(headers, request.json);
  await expectSignedWith(secret, request);
}

/** Verifies both signatures by third-party libraries; neither is valid for an altered body. */
export async function expectSignedWith(secret: string, { headers, body }: HookRequest): Promise<void> {
  const text = body.toString('utf8');
  expect(Buffer.from(text).equals(body)).toBe(true);
  const signature = String(headers['x-webhook-signature']);
  expect(signature).toMatch(/^sha256=[0-9a-f]{64}$/);
  const standard = new Webhook(secret);
  const standardHeaders = {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  };
  expect(await verify(secret, text, signature)).toBe(true);
  expect(standard.verify(text, standardHeaders)).toEqual(JSON.parse(text));

  const tampered = [`${text} `, text.replace('"event"', '"Event"'), text.slice(0, -1)];
  for (const other of tampered) {
    expect(await verify(secret, other, signature)).toBe(false);
    expect(() => standard.verify(other, standardHeaders)).toThrow('No matching signature found');
  }
}

/** Whether the contract's signature was made with this secret. */
export async function isSignedWith(secret: string, { headers, body }: HookRequest): Promise<boolean> {
  return verify(secret, body.toString('utf8'), String(headers['x-webhook-signature']));
}
