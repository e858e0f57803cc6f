/**
 * The demo's webhooks: an HTTPS server as a partner would write it, its registration in the portal,
 * and the webhooks that must arrive.
 */
import type { IncomingMessage } from 'node:http';
import { callStack, type Json, type StackCall, StackFailure } from '@laurel/local-infrastructure/running-stack';
import { type VerifiedWebhook, verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@laurel/sdk';
import type { DemoProgram } from '../stack/seed.ts';
import type { WebhookCa } from '../stack/webhook-ca.ts';
import {
  chapter,
  check,
  fetchAndPrint,
  printBetweenCalls,
  printHeaders,
  printJson,
  printLines,
  printOnly,
} from './print.ts';
import { startDemoServer } from './server.ts';

/**
 * Describes a webhook that must arrive with a valid signature: `what` for readers, the event, and
 * its data for `holds`.
 */
type Expectation<Result> = <Name extends WebhookEvent['event']>(
  what: string,
  event: Name,
  holds: (data: Extract<WebhookEvent, { event: Name }>['data'], deliveryId: string | null) => boolean,
) => Result;

type ExpectedWebhook = {
  readonly what: string;
  readonly event: string;
  readonly isMetBy: (webhook: VerifiedWebhook) => boolean;
};

export interface Webhooks extends AsyncDisposable {
  /** Adds a webhook for which `finish` waits; it may have arrived already. */
  readonly expect: Expectation<void>;
  /** Adds a webhook and waits until it has arrived. */
  readonly arrived: Expectation<Promise<void>>;
  /** Waits for all expected webhooks, shows the delivery log, and removes the endpoint. */
  finish(): Promise<void>;
}

/**
 * Marks the demo's endpoint, so that a later run recognises one that an earlier run could not
 * remove.
 */
const DESCRIPTION = 'npm run demo';
const ARRIVAL_LIMIT_MS = 30_000;
const RECORDING_LIMIT_MS = 10_000;
const SHOWN_HEADERS = ['x-webhook-signature', 'x-webhook-event', 'x-webhook-delivery-id'];

const expectedWebhook: Expectation<ExpectedWebhook> = (what, event, holds) => ({
  what,
  event,
  isMetBy: ({ event: arrived, deliveryId }) => arrived.event === event && holds(arrived.data as never, deliveryId),
});

export async function receiveWebhooks(on: {
  readonly origin: string;
  readonly demo: DemoProgram;
  readonly files: WebhookCa;
}): Promise<Webhooks> {
  const { origin, demo, files } = on;
  const call = (shape: StackCall) => callStack(origin, shape, fetchAndPrint);
  const portal = '/api/portal/webhook-endpoints';

  chapter('Partner: our developer signs in to the portal');
  const credentials = demo.developer;
  const session = await call({ method: 'POST', path: '/api/portal/session', body: credentials, expect: 201 });
  const asDeveloper = { authorization: `Bearer ${session.body.token}` };
  const remove = (id: unknown) =>
    call({ method: 'DELETE', path: `${portal}/${id}`, headers: asDeveloper, expect: 204 });
  const listed = await call({ method: 'GET', path: portal, headers: asDeveloper, expect: 200 });
  const leftOver = (listed.body.data as Json[]).filter(({ description }) => description === DESCRIPTION);
  if (leftOver.length > 0) chapter('Partner: an earlier demo was interrupted, so we remove its endpoint');
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
    expect: (what, event, holds) => void expected.push(expectedWebhook(what, event, holds)),
    async arrived(what, event, holds) {
      const webhook = expectedWebhook(what, event, holds);
      expected.push(webhook);
      await receiver.arrived([webhook]);
    },
    async finish() {
      chapter('Partner: has every webhook of this run arrived, with our signature?');
      await receiver.arrived(expected);
      printLines(expected.map(({ event, what }) => `✓ ${event.padEnd(20)} ${what}`));

      chapter('Partner: the delivery log agrees');
      await recorded(`${origin}${path}/deliveries?status=pending`, asDeveloper);
      const log = await printOnly(
        ({ data }: { readonly data: readonly Json[] }) => data.map(describeDelivery),
        () => call({ method: 'GET', path: `${path}/deliveries`, headers: asDeveloper, expect: 200 }),
      );
      const delivered = (log.body.data as Json[]).filter(({ status }) => status === 'delivered');
      check(delivered.length >= expected.length, 'the log must show every webhook that arrived as delivered');

      chapter('Partner: the demo is over, so we remove its endpoint');
      await remove(endpoint.body.id);
      isRemoved = true;
      await call({ method: 'DELETE', path: '/api/portal/session', headers: asDeveloper, expect: 204 });
    },
    async [Symbol.asyncDispose]() {
      // Runs after a failure. Only that failure is reported: the next run removes the endpoint if
      // this one cannot.
      if (!isRemoved) await fetch(origin + path, { method: 'DELETE', headers: asDeveloper }).catch(() => undefined);
      await receiver[Symbol.asyncDispose]();
    },
  };

  try {
    chapter('Partner: the portal sends a test event');
    const test = await call({ method: 'POST', path: `${path}/test`, headers: asDeveloper, expect: 202 });
    await webhooks.arrived(
      'the test of the endpoint',
      'webhook.test',
      (_, deliveryId) => deliveryId === test.body.delivery_id,
    );
  } catch (error) {
    await webhooks[Symbol.asyncDispose]();
    throw error;
  }
  return webhooks;
}

/**
 * A partner's endpoint. A request that is not signed with the secret gets 400 and ends the demo.
 */
async function startReceiver(files: WebhookCa) {
  /**
   * The webhooks by the id of their event, so that an event counts once, however often it was
   * delivered.
   */
  const received = new Map<string, VerifiedWebhook>();
  /**
   * The endpoint's secret, known once the endpoint is registered. Requests that arrive earlier wait
   * for it.
   */
  const secret = Promise.withResolvers<string>();
  let forged = 0;
  let onArrival = Promise.withResolvers<void>();

  const server = await startDemoServer(files, async (request, response) => {
    const body = await readRaw(request).catch(() => undefined);
    if (body === undefined) return;
    const secrets = [await secret.promise];
    const verified = await verifyWebhook({ body, headers: request.headers, secrets }).catch(reasonOf);
    const isRefused = typeof verified === 'string';
    response.writeHead(isRefused ? 400 : 200).end(isRefused ? verified : 'thank you');
    printBetweenCalls(() => printWebhook(request, isRefused ? verified : verified.event));
    if (isRefused) forged += 1;
    else received.set(verified.dedupeKey, verified);
    onArrival.resolve();
    onArrival = Promise.withResolvers<void>();
  });

  const missing = (expected: readonly ExpectedWebhook[]) =>
    expected.filter(({ isMetBy }) => ![...received.values()].some(isMetBy));
  return {
    url: `${server.origin}/webhooks`,
    trust: secret.resolve,
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

/** Returns why the request is not a webhook from Laurel. */
function reasonOf(error: unknown): string {
  if (error instanceof WebhookVerificationError) return error.message;
  throw error;
}

/** `content` is the event, or the reason why there is none. */
function printWebhook(request: IncomingMessage, content: WebhookEvent | string): void {
  console.log(`\n⇠ webhook ${request.method} ${request.url}`);
  printHeaders(new Headers(request.headers as Record<string, string>), SHOWN_HEADERS);
  console.log(`  the signature was ${typeof content === 'string' ? `REFUSED: ${content}` : 'verified'}`);
  if (typeof content !== 'string') printJson(content);
}

/**
 * Waits for the log, which shows a delivery as delivered a moment after its receiver has responded.
 */
async function recorded(url: string, headers: Record<string, string>): Promise<void> {
  const deadline = Date.now() + RECORDING_LIMIT_MS;
  for (;;) {
    const pending = await fetch(url, { headers }).then(
      async (answer) => ((await answer.json()) as Json).data as Json[] | undefined,
      () => undefined,
    );
    if (pending?.length === 0) return;
    if (Date.now() > deadline)
      throw new StackFailure('The demo failed: a webhook that arrived is still pending in the log.');
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
