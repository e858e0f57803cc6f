/** The demo's webhooks: an HTTPS server as a partner would write it, its registration in the portal, and the webhooks that must arrive. */
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type Answer,
  type Call,
  chapter,
  check,
  DemoFailure,
  type Json,
  printBetweenCalls,
  printHeaders,
  printJson,
  printLines,
} from './demo-calls.ts';
import { isEqual, startDemoServer } from './demo-server.ts';
import type { DemoProgram } from './seed.ts';
import type { WebhookCa } from './webhook-ca.ts';

/** A webhook that must arrive with a valid signature; `what` describes it for people. */
export type ExpectedWebhook = {
  readonly what: string;
  readonly event: string;
  readonly holds: (data: Json, deliveryId: string) => boolean;
};

export interface Webhooks extends AsyncDisposable {
  /** Adds one to what `finish` waits for; it may have arrived already. */
  expect(expected: ExpectedWebhook): void;
  /** Adds one, and waits until it has arrived. */
  arrived(expected: ExpectedWebhook): Promise<void>;
  /** Waits for everything that was expected, shows the delivery log, and removes the endpoint. */
  finish(): Promise<void>;
}

type Received = { readonly deliveryId: string; readonly event: string; readonly data: Json };

/** By this the demo recognises an endpoint that an earlier run could not remove. */
const DESCRIPTION = 'npm run demo';
const ARRIVAL_LIMIT_MS = 30_000;
const RECORDING_LIMIT_MS = 10_000;
const SHOWN_HEADERS = ['x-webhook-signature', 'x-webhook-event', 'x-webhook-delivery-id'];

/** A partner's server does this before it accepts a webhook: the raw bytes, the secret as it was shown, a comparison in constant time. */
export function isSigned(rawBody: Buffer, secret: string, signature: string | undefined): boolean {
  return isEqual(signature, `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`);
}

export async function receiveWebhooks(on: {
  readonly call: (shape: Call) => Promise<Answer>;
  readonly origin: string;
  readonly demo: DemoProgram;
  readonly files: WebhookCa;
}): Promise<Webhooks> {
  const { call, origin, demo, files } = on;
  const portal = '/api/portal/webhook-endpoints';

  chapter('Partner: our developer signs in to the portal');
  const session = await call({
    method: 'POST',
    path: '/api/portal/session',
    headers: {},
    body: demo.developer,
    expect: 201,
  });
  const asDeveloper = { authorization: `Bearer ${session.body.token}` };
  const remove = (id: unknown) =>
    call({ method: 'DELETE', path: `${portal}/${id}`, headers: asDeveloper, expect: 204 });
  const listed = await call({ method: 'GET', path: portal, headers: asDeveloper, expect: 200 });
  const leftOver = (listed.body.data as Json[]).filter(({ description }) => description === DESCRIPTION);
  if (leftOver.length > 0) chapter('Partner: an earlier demo was broken off, so we remove its endpoint');
  for (const { id } of leftOver) await remove(id);

  chapter('Partner: our server listens for webhooks, and we register it in the portal');
  const receiver = await startReceiver(files);
  const endpoint = await call({
    method: 'POST',
    path: portal,
    headers: asDeveloper,
    body: { url: receiver.url, events: [], program_id: demo.program_id, environment: 'test', description: DESCRIPTION },
    expect: 201,
  }).catch(async (error: unknown) => {
    await receiver[Symbol.asyncDispose]();
    throw error;
  });
  receiver.trust(String(endpoint.body.signing_secret));
  const path = `${portal}/${endpoint.body.id}`;

  let isRemoved = false;
  const expected: ExpectedWebhook[] = [];
  const webhooks: Webhooks = {
    expect: (webhook) => void expected.push(webhook),
    async arrived(webhook) {
      expected.push(webhook);
      await receiver.arrived([webhook]);
    },
    async finish() {
      chapter('Partner: has every webhook of this run arrived, with our signature?');
      await receiver.arrived(expected);
      printLines(expected.map(({ event, what }) => `✓ ${event.padEnd(20)} ${what}`));

      chapter('Partner: the delivery log agrees');
      await recorded(`${origin}${path}/deliveries?status=pending`, asDeveloper);
      const log = await call({
        method: 'GET',
        path: `${path}/deliveries`,
        headers: asDeveloper,
        expect: 200,
        summary: ({ data }) => (data as Json[]).map(describeDelivery),
      });
      const delivered = (log.body.data as Json[]).filter(({ status }) => status === 'delivered');
      check(delivered.length >= expected.length, 'the log must show every webhook that arrived as delivered');

      chapter('Partner: the demo is over, so its endpoint goes');
      await remove(endpoint.body.id);
      isRemoved = true;
      await call({ method: 'DELETE', path: '/api/portal/session', headers: asDeveloper, expect: 204 });
    },
    async [Symbol.asyncDispose]() {
      // After a failure, and only that failure is reported: the next run removes an endpoint that this one cannot.
      if (!isRemoved) await fetch(origin + path, { method: 'DELETE', headers: asDeveloper }).catch(() => undefined);
      await receiver[Symbol.asyncDispose]();
    },
  };

  try {
    chapter('Partner: the portal sends a test event');
    const test = await call({ method: 'POST', path: `${path}/test`, headers: asDeveloper, expect: 202 });
    const isTest = (_: Json, deliveryId: string) => deliveryId === test.body.delivery_id;
    await webhooks.arrived({ what: 'the test of the endpoint', event: 'webhook.test', holds: isTest });
  } catch (error) {
    await webhooks[Symbol.asyncDispose]();
    throw error;
  }
  return webhooks;
}

/** A partner's endpoint. A request that is not signed with the secret is answered 401 and ends the demo. */
async function startReceiver(files: WebhookCa) {
  const received: Received[] = [];
  let secret = '';
  let forged = 0;
  let onArrival = Promise.withResolvers<void>();

  const server = await startDemoServer(files, async (request, response) => {
    const body = await readRaw(request).catch(() => undefined);
    if (body === undefined) return;
    const signature = request.headers['x-webhook-signature'];
    const isGenuine = isSigned(body, secret, typeof signature === 'string' ? signature : undefined);
    response.writeHead(isGenuine ? 200 : 401).end(isGenuine ? 'thank you' : 'the signature is wrong');
    printBetweenCalls(() => printWebhook(request, body, isGenuine));
    if (isGenuine) {
      const { event, data } = JSON.parse(body.toString()) as Json;
      const deliveryId = String(request.headers['x-webhook-delivery-id']);
      received.push({ deliveryId, event: String(event), data: data as Json });
    } else forged += 1;
    onArrival.resolve();
    onArrival = Promise.withResolvers<void>();
  });

  const missing = (expected: readonly ExpectedWebhook[]) =>
    expected.filter(
      ({ event, holds }) => !received.some((one) => one.event === event && holds(one.data, one.deliveryId)),
    );
  return {
    url: `${server.origin}/webhooks`,
    trust(signingSecret: string) {
      secret = signingSecret;
    },
    async arrived(expected: readonly ExpectedWebhook[]): Promise<void> {
      const late = Promise.withResolvers<'late'>();
      const timer = setTimeout(() => late.resolve('late'), ARRIVAL_LIMIT_MS);
      while (forged === 0 && missing(expected).length > 0) {
        if ((await Promise.race([onArrival.promise, late.promise])) === 'late') break;
      }
      clearTimeout(timer);
      check(forged === 0, 'every webhook must be signed with the secret of its endpoint');
      const absent = missing(expected).map(({ event, what }) => `${event} (${what})`);
      check(
        absent.length === 0,
        `these webhooks must arrive within ${ARRIVAL_LIMIT_MS / 1000} s: ${absent.join(', ')}`,
      );
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function readRaw(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function printWebhook(request: IncomingMessage, body: Buffer, isGenuine: boolean): void {
  console.log(`\n⇠ webhook ${request.method} ${request.url}`);
  printHeaders(new Headers(request.headers as Record<string, string>), SHOWN_HEADERS);
  console.log(`  the signature is ${isGenuine ? 'ours: verified' : 'NOT OURS'}`);
  if (isGenuine) printJson(JSON.parse(body.toString()) as Json);
}

/** The log shows a delivery as delivered a moment after its receiver has answered. */
async function recorded(url: string, headers: Record<string, string>): Promise<void> {
  const deadline = Date.now() + RECORDING_LIMIT_MS;
  for (;;) {
    const pending = await fetch(url, { headers }).then(
      async (answer) => ((await answer.json()) as Json).data as Json[] | undefined,
      () => undefined,
    );
    if (pending?.length === 0) return;
    if (Date.now() > deadline)
      throw new DemoFailure('The demo failed: a webhook that arrived is still pending in the log.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function describeDelivery({ id, event, status, attempts }: Json): string {
  const sends = (attempts as Json[]).map(({ http_status, error_kind, duration_ms }) => {
    const result = http_status ?? error_kind ?? 'no answer';
    return typeof duration_ms === 'number' ? `${result} in ${duration_ms.toFixed(0)} ms` : String(result);
  });
  return `${id}  ${String(event).padEnd(20)} ${String(status).padEnd(9)} ${sends.join(', ')}`;
}
