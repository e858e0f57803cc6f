/** From an event to the log of its sends, over real HTTPS. */

import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { Environment } from '@laurel/proto/common';
import { startReceiver } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { queueOf } from '../domain/delivery-queues.ts';
import { ERROR_SENTENCES } from '../domain/send-result.ts';
import { closePending, insertDelivery, retryDeliveryNow } from '../repository/deliveries.ts';
import { findDelivery, findEndpointOfDelivery, findStoredDelivery } from '../repository/delivery-log.ts';
import { deleteEndpoint, updateEndpoint } from '../repository/endpoints.ts';
import { findUncovered } from '../repository/failed-deliveries.ts';
import { upsertProgram } from '../repository/programs.ts';
import { leaseSends, recordSends } from '../repository/sends.ts';
import {
  type Received,
  type RegisteredEndpoint,
  type Respond,
  suspended,
  useDispatchHarness,
} from './deliver.fixture.ts';

const h = useDispatchHarness();
const MINUTE_MS = 60_000;

// A delivery that one test leaves pending must not affect another test.
afterEach(() => h.database.query({ text: 'truncate deliveries, delivery_attempts' }));

const status =
  (code: number, body = ''): Respond =>
  (response) =>
    void response.writeHead(code).end(body);

/** The only delivery of an event to a new endpoint, after its first send. */
async function delivered(respond?: Respond) {
  const target = h.receiver.url(respond);
  const endpoint = await h.endpoint(target.url);
  const event = suspended(endpoint, h.clock());
  await h.consume([event]);
  await h.dispatcher.whenIdle();
  return { target, endpoint, event, delivery: await onlyDelivery(endpoint) };
}

async function isSigned(request: Received | undefined, secret: string): Promise<boolean> {
  return request !== undefined && (await verify(secret, request.body, String(request.headers['x-webhook-signature'])));
}

async function onlyDelivery({ id }: Pick<RegisteredEndpoint, 'id'>) {
  const [delivery, ...others] = await h.deliveries(id);
  if (delivery === undefined || others.length > 0) throw new Error(`not one delivery but ${others.length + 1}`);
  return delivery;
}

async function switchOff(endpoint: RegisteredEndpoint, isActive = false): Promise<void> {
  await h.database.transaction(async (tx) => {
    await updateEndpoint(tx, { ...endpoint, isActive });
    if (!isActive) await closePending(tx, endpoint.id, h.clock());
  });
}

describe('an event', () => {
  it('an event is delivered as one request with exactly the expected headers and bytes', async () => {
    const { target, endpoint, event, delivery } = await delivered();
    const [request, ...others] = target.received;
    expect(others).toEqual([]);
    const { occurredAt, payload } = event;
    const challengeId = payload?.$case === 'challengeSuspended' ? payload.value.challengeId : '';
    expect(request).toMatchObject({
      method: 'POST',
      path: new URL(target.url).pathname,
      headers: {
        host: new URL(target.url).host,
        'content-type': 'application/json',
        'user-agent': 'Laurel-Webhooks/1',
        'x-webhook-event': 'challenge.suspended',
        'x-webhook-delivery-id': delivery.id,
        'webhook-id': delivery.id,
        'webhook-timestamp': `${Math.floor(h.clock().getTime() / 1_000)}`,
      },
      body:
        `{"event":"challenge.suspended","timestamp":"${occurredAt?.toISOString()}",` +
        `"data":{"challenge_id":"${challengeId}","name":"Hard mode","test":true}}`,
    });
    expect(await isSigned(request, endpoint.secret)).toBe(true);
    const { body = '', headers } = request ?? {};
    const verified = new Webhook(endpoint.secret).verify(body, headers as Record<string, string>);
    expect(verified).toEqual(JSON.parse(body));
    expect(delivery).toEqual({
      id: delivery.id,
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      leased_until: null,
      closed_at: null,
      sends: [{ number: 1, http_status: 200, error_kind: null, error: null, response_excerpt: 'ok' }],
    });
  });

  it('an event is delivered to every matching endpoint under its own id and signature', async () => {
    const targets = [h.receiver.url(), h.receiver.url(), h.receiver.url()];
    const developerId = newId();
    const endpoints = await Promise.all(targets.map(({ url }) => h.endpoint(url, { developerId })));
    await h.consume(endpoints.slice(0, 1).map((endpoint) => suspended(endpoint, h.clock())));
    await h.dispatcher.whenIdle();
    const requests = targets.flatMap(({ received }) => received);
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['x-webhook-delivery-id'])).size).toBe(3);
    for (const [index, { secret }] of endpoints.entries()) {
      expect(await isSigned(requests[index], secret)).toBe(true);
    }
  });

  it('200 events are each delivered exactly once', async () => {
    const target = h.receiver.url();
    const endpoint = await h.endpoint(target.url);
    const events = Array.from({ length: 200 }, () => suspended(endpoint, h.clock()));
    await h.consume(events);
    await h.consume(events);
    await h.dispatcher.whenIdle();
    expect(new Set(target.received.map(({ headers }) => headers['x-webhook-delivery-id'])).size).toBe(200);
    expect(target.received).toHaveLength(200);
    const deliveries = await h.deliveries(endpoint.id);
    expect(deliveries.filter((one) => one.status === 'delivered' && one.attempts === 1)).toHaveLength(200);
  });
});

describe('a program that gets another developer', () => {
  const assign = ({ tenant }: RegisteredEndpoint, developerId: string | null) =>
    upsertProgram(h.database, { id: tenant.programId, developerId, version: nextVersion() });
  let version = 0n;
  const nextVersion = () => {
    version += 1n;
    return version;
  };

  it('after a change of developer, a program’s events go only to the new developer’s endpoints', async () => {
    const [everything, named, theirs] = [h.receiver.url(), h.receiver.url(), h.receiver.url()];
    const old = await h.endpoint(everything.url);
    await h.endpoint(named.url, { developerId: old.developerId, programId: old.tenant.programId });
    const { developerId } = await h.endpoint(theirs.url);
    await h.consume([suspended(old, h.clock())]);
    await h.dispatcher.whenIdle();
    await assign(old, developerId);
    await h.consume([suspended(old, h.clock())]);
    await h.dispatcher.whenIdle();
    expect([everything, named, theirs].map(({ received }) => received.length)).toEqual([1, 1, 1]);
    await assign(old, null);
    await h.consume([suspended(old, h.clock())]);
    await h.dispatcher.whenIdle();
    expect([everything, named, theirs].map(({ received }) => received.length)).toEqual([1, 1, 1]);
  });

  it('a pending retry to a program’s old developer is closed and never sent', async () => {
    const { target, endpoint, delivery } = await delivered(status(500));
    expect(delivery).toMatchObject({ status: 'pending', attempts: 1 });
    await assign(endpoint, newId());
    h.clock.advance(10 * MINUTE_MS);
    await h.sweep();
    expect(target.received).toHaveLength(1);
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'failed', attempts: 1, closed_at: h.clock() });
  });

  it('the old developer of a program can neither read nor resend its earlier deliveries', async () => {
    const { endpoint, event, delivery } = await delivered();
    const test = newId();
    const queued = { ...queueOf({ endpointId: endpoint.id, tenant: null }), resendOf: null, createdAt: h.clock() };
    await insertDelivery(h.database, {
      ...queued,
      ...{ id: test, eventId: newId(), eventType: 'webhook.test', tenant: null, body: Buffer.from('{}') },
    });
    const { developerId, tenant } = endpoint;
    const read = async (id: string) => [
      (await findDelivery(h.database, developerId, id)) !== null,
      (await findStoredDelivery(h.database, developerId, id)) !== null,
      (await findEndpointOfDelivery(h.database, tenant, id)) !== null,
    ];
    expect(await read(delivery.id)).toEqual([true, true, true]);
    await assign(endpoint, newId());
    expect(await read(delivery.id)).toEqual([false, false, false]);
    expect(await read(test)).toEqual([true, true, false]);
    expect(await retryDeliveryNow(h.database, delivery.id, tenant, h.clock())).toBe('not_found');
    await h.database.query({ text: `update deliveries set status = 'failed', next_attempt_at = null where id = $1` }, [
      delivery.id,
    ]);
    const period = { endpointId: endpoint.id, from: event.occurredAt ?? h.clock(), to: later(h.clock(), MINUTE_MS) };
    expect((await findUncovered(h.database, period, 10)).uncovered).toEqual([]);
    await assign(endpoint, developerId);
    expect((await findUncovered(h.database, period, 10)).uncovered).toMatchObject([{ id: delivery.id }]);
  });
});

const LONG = `${'é'.repeat(999)}😀`;
const MIXED = Buffer.concat([Buffer.from('\0é😀 '), Buffer.from([0xff, 0xc3, 0]), Buffer.from('x'.repeat(2_000))]);

describe('the response to a send', () => {
  /** Announces more bytes than the receiver ever sends. */
  const PROMISED = { 'content-length': '100' };

  it.each([200, 201, 202, 204, 299])('a response with status %i is a success', async (code) => {
    const { target, delivery } = await delivered(status(code));
    expect(target.received).toHaveLength(1);
    expect(delivery).toMatchObject({
      status: 'delivered',
      next_attempt_at: null,
      sends: [{ http_status: code, error_kind: null, error: null }],
    });
  });

  it.each([
    [301, 'http_3xx'],
    [302, 'http_3xx'],
    [303, 'http_3xx'],
    [304, 'http_3xx'],
    [307, 'http_3xx'],
    [308, 'http_3xx'],
    [400, 'http_4xx'],
    [404, 'http_4xx'],
    [410, 'http_4xx'],
    [429, 'http_4xx'],
    [500, 'http_5xx'],
    [503, 'http_5xx'],
  ] as const)(
    'a response with status %i is the failure %s, whatever its headers ask for; the retry is due in a minute',
    async (code, kind) => {
      const trap = h.receiver.url();
      const { target, delivery } = await delivered((response) =>
        response.writeHead(code, { Location: trap.url, 'Retry-After': '1' }).end(code === 304 ? '' : 'no'),
      );
      expect([target.received.length, trap.received.length]).toEqual([1, 0]);
      expect(delivery).toMatchObject({
        status: 'pending',
        attempts: 1,
        next_attempt_at: new Date(h.clock().getTime() + MINUTE_MS),
        leased_until: null,
        sends: [
          {
            number: 1,
            http_status: code,
            error_kind: kind,
            error: ERROR_SENTENCES[kind],
            response_excerpt: code === 304 ? '' : 'no',
          },
        ],
      });
    },
  );

  it.each<[string, Respond, string]>([
    ['a connection that ends', (response) => response.socket?.destroy(), 'protocol'],
    ['bytes that are not HTTP', (response) => response.socket?.end('hello\r\n\r\n'), 'protocol'],
  ])('%s is recorded with its error kind and without a status', async (_, respond, kind) => {
    const { delivery } = await delivered(respond);
    expect(delivery).toMatchObject({
      status: 'pending',
      sends: [{ http_status: null, error_kind: kind, error: expect.any(String), response_excerpt: null }],
    });
  });

  it('a port on which nothing listens is recorded as a connection that could not be made', async () => {
    const endpoint = await h.endpoint('https://127.0.0.1:1025/');
    await h.consume([suspended(endpoint, h.clock())]);
    await h.dispatcher.whenIdle();
    expect((await onlyDelivery(endpoint)).sends).toEqual([
      {
        number: 1,
        http_status: null,
        error_kind: 'connect',
        error: 'No connection could be made.',
        response_excerpt: null,
      },
    ]);
  });

  it.each<[string, () => Promise<Parameters<typeof startReceiver>[0]>, string]>([
    [
      'is not signed by a trusted authority',
      async () => ({ ca: await createCertificateAuthority() }),
      'The certificate is not signed by a trusted authority.',
    ],
    [
      'is for another name',
      async () => ({ ca: h.authority, names: ['hooks.example'] }),
      'The certificate is for another host name.',
    ],
    [
      'has expired',
      async () => ({ ca: h.authority, notAfter: new Date(Date.now() - 3_600_000) }),
      'The certificate has expired.',
    ],
  ])('a server whose certificate %s gets no request', async (_, optionsOf, error) => {
    await using server = await startReceiver(await optionsOf());
    const endpoint = await h.endpoint(server.url);
    await h.consume([suspended(endpoint, h.clock())]);
    await h.dispatcher.whenIdle();
    expect((await onlyDelivery(endpoint)).sends).toMatchObject([{ http_status: null, error_kind: 'tls', error }]);
    expect(server.requests).toEqual([]);
  });

  it('the status decides the result of a response whose body never ends', async () => {
    const { delivery } = await delivered((response) => {
      response.writeHead(200);
      const write = () => {
        while (response.writable && response.write('x'.repeat(65_536)));
      };
      response.on('drain', write);
      write();
    });
    expect(delivery).toMatchObject({ status: 'delivered', sends: [{ response_excerpt: 'x'.repeat(1_000) }] });
  });

  it.each<[string, Respond, object]>([
    ['that never comes', () => {}, { http_status: null, error_kind: 'timeout', response_excerpt: null }],
    [
      'whose body drips past the timeout is decided by its status, which',
      (response) => void response.writeHead(503).write('drip'),
      { http_status: 503, error_kind: 'http_5xx', response_excerpt: 'drip' },
    ],
  ])('a response %s is a failure once the timeout is over', async (_, respond, send) => {
    await using hasty = h.startDispatcher({ timeoutMs: 500 });
    const endpoint = await h.endpoint(h.receiver.url(respond).url);
    await insertDelivery(h.database, newDelivery(endpoint));
    await h.sweep(hasty);
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'pending', sends: [send] });
  });

  it.each<[string, Respond]>([
    ['is cut', (response) => void response.writeHead(200, PROMISED).write('part', () => response.socket?.destroy())],
    ['stalls', (response) => void response.writeHead(200, PROMISED).write('part')],
    ['stalls before its first byte', (response) => void response.writeHead(202, PROMISED).flushHeaders()],
  ])('a 2xx whose headers came in time is a success even if its body %s', async (what, respond) => {
    await using hasty = h.startDispatcher({ timeoutMs: 500 });
    const endpoint = await h.endpoint(h.receiver.url(respond).url);
    await insertDelivery(h.database, newDelivery(endpoint));
    await h.sweep(hasty);
    const excerpt = what === 'stalls before its first byte' ? '' : 'part';
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      sends: [{ error_kind: null, error: null, response_excerpt: excerpt }],
    });
  });

  it.each([
    ['with NULs', Buffer.from('a\0b\0'), 'ab'],
    ['that is binary', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff, 0xfe]), '\ufffdPNG\ufffd\ufffd'],
    ['of long characters', Buffer.from('🂡'.repeat(1_500)), '🂡'.repeat(1_000)],
    ['that is empty', Buffer.alloc(0), ''],
    ['of 1,000 characters', Buffer.from('a'.repeat(1_000)), 'a'.repeat(1_000)],
    ['whose 1,000th character takes two UTF-16 units', Buffer.from(`${'é'.repeat(999)}😀${'z'.repeat(20_000)}`), LONG],
    ['of NULs only', Buffer.alloc(5_000), ''],
    // Each byte sequence that can neither begin nor continue a character becomes one replacement
    // character; NUL is dropped.
    ['of text and other bytes', MIXED, `é😀 \ufffd\ufffd${'x'.repeat(995)}`],
  ])('the excerpt of a response with a body %s is recorded, whatever its status', async (_, body, excerpt) => {
    for (const code of [200, 500]) {
      const { delivery } = await delivered((response) => void response.writeHead(code).end(body));
      expect(delivery.sends).toMatchObject([{ http_status: code, response_excerpt: excerpt }]);
    }
  });
});

describe('a delivery that fails', () => {
  it('a failed delivery is sent again after 1 minute and after 5 more, and then never again', async () => {
    const { target, endpoint } = await delivered(status(500));
    await h.sweep();
    h.clock.advance(MINUTE_MS - 1);
    await h.sweep();
    expect(target.received).toHaveLength(1);
    h.clock.advance(1);
    await h.sweep();
    expect(target.received).toHaveLength(2);
    h.clock.advance(5 * MINUTE_MS - 1);
    await h.sweep();
    expect(target.received).toHaveLength(2);
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'pending', attempts: 2 });
    h.clock.advance(1);
    await h.sweep();
    expect(target.received).toHaveLength(3);

    const failed = await onlyDelivery(endpoint);
    expect(failed).toMatchObject({ status: 'failed', attempts: 3, next_attempt_at: null, leased_until: null });
    expect(failed.sends.map(({ number, error_kind }) => [number, error_kind])).toEqual([
      [1, 'http_5xx'],
      [2, 'http_5xx'],
      [3, 'http_5xx'],
    ]);
    expect(
      new Set(target.received.map(({ headers, body }) => `${headers['x-webhook-delivery-id']} ${body}`)).size,
    ).toBe(1);
    h.clock.advance(1_000 * MINUTE_MS);
    await h.sweep();
    expect(target.received).toHaveLength(3);
  });

  it('an endpoint stays on after a delivery to it has failed', async () => {
    const { target, endpoint } = await delivered(status(500));
    for (const minutes of [1, 5]) {
      h.clock.advance(minutes * MINUTE_MS);
      await h.sweep();
    }
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'failed', attempts: 3 });
    await h.consume([suspended(endpoint, h.clock())]);
    await h.dispatcher.whenIdle();
    expect(target.received).toHaveLength(4);
    expect(await h.deliveries(endpoint.id)).toMatchObject([{ attempts: 3 }, { attempts: 1 }]);
    const isActive = { text: 'select is_active from endpoints where id = $1' };
    expect(await h.database.query(isActive, [endpoint.id])).toEqual([{ is_active: true }]);
  });

  it('a retry that gets a 2xx completes the delivery', async () => {
    let answers = 0;
    const { target, endpoint } = await delivered((response) => {
      answers += 1;
      response.writeHead(answers === 1 ? 500 : 204).end();
    });
    h.clock.advance(MINUTE_MS);
    await h.sweep();
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'delivered', attempts: 2 });
    h.clock.advance(10 * MINUTE_MS);
    await h.sweep();
    expect(target.received).toHaveLength(2);
  });

  it('each send uses the endpoint’s current secret and URL', async () => {
    const { target, endpoint } = await delivered(status(500));
    const secret = await h.rotate(endpoint);
    const moved = h.receiver.url();
    await updateEndpoint(h.database, { ...endpoint, url: moved.url });
    h.clock.advance(MINUTE_MS);
    await h.sweep();
    const [first] = target.received;
    const [second] = moved.received;
    if (first === undefined || second === undefined) throw new Error('a send is missing');
    expect(second.body).toBe(first.body);
    expect(await isSigned(first, endpoint.secret)).toBe(true);
    expect(await isSigned(second, secret)).toBe(true);
    expect(await isSigned(second, endpoint.secret)).toBe(false);
    expect(target.received).toHaveLength(1);
    expect(Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp'])).toBe(60);
  });

  it('a requested retry replaces the scheduled send', async () => {
    const { target, endpoint, delivery } = await delivered(status(500));
    const { tenant } = endpoint;
    expect(await retryDeliveryNow(h.database, delivery.id, tenant, h.clock())).toBe('due_now');
    h.dispatcher.wake([queueOf({ ...endpoint, endpointId: endpoint.id })]);
    await h.dispatcher.whenIdle();
    expect(target.received).toHaveLength(2);
    expect(await onlyDelivery(endpoint)).toMatchObject({
      attempts: 2,
      next_attempt_at: new Date(h.clock().getTime() + 5 * MINUTE_MS),
    });
    expect(await retryDeliveryNow(h.database, delivery.id, tenant, h.clock())).toBe('due_now');
    h.dispatcher.wake([queueOf({ ...endpoint, endpointId: endpoint.id })]);
    await h.dispatcher.whenIdle();
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'failed', attempts: 3 });
    expect(await retryDeliveryNow(h.database, delivery.id, tenant, h.clock())).toBe('not_scheduled');
  });

  it('a retry cannot be requested by another tenant, nor before the first send', async () => {
    const { delivery, endpoint } = await delivered(status(500));
    const others = [
      { ...endpoint.tenant, programId: newId() },
      { ...endpoint.tenant, environment: 'live' as const },
    ];
    for (const tenant of others) {
      expect(await retryDeliveryNow(h.database, delivery.id, tenant, h.clock())).toBe('not_found');
    }
    expect(await retryDeliveryNow(h.database, newId(), endpoint.tenant, h.clock())).toBe('not_found');
    const unsent = newDelivery(endpoint);
    await insertDelivery(h.database, unsent);
    expect(await retryDeliveryNow(h.database, unsent.id, endpoint.tenant, h.clock())).toBe('not_scheduled');
    await h.sweep();
  });
});

/** A delivery as the consumer inserts it. */
function newDelivery({ id: endpointId, tenant }: RegisteredEndpoint) {
  const createdAt = h.clock();
  return {
    id: newId(createdAt),
    endpointId,
    eventId: newId(createdAt),
    eventType: 'attempt.settled',
    tenant,
    body: Buffer.from('{}'),
    resendOf: null,
    createdAt,
  };
}

describe('an endpoint that is switched off', () => {
  it('an endpoint that is off gets no send, and its pending deliveries fail', async () => {
    const { target, endpoint } = await delivered(status(500));
    await switchOff(endpoint);
    const closed = { status: 'failed', attempts: 1, next_attempt_at: null, closed_at: h.clock() };
    expect(await onlyDelivery(endpoint)).toMatchObject(closed);
    await h.consume([suspended(endpoint, h.clock())]);
    h.clock.advance(10 * MINUTE_MS);
    await h.sweep();
    await switchOff(endpoint, true);
    await h.sweep();
    expect(target.received).toHaveLength(1);
    expect(await onlyDelivery(endpoint)).toMatchObject(closed);
    await h.consume([suspended(endpoint, h.clock())]);
    await h.dispatcher.whenIdle();
    expect(target.received).toHaveLength(2);
    expect(await h.deliveries(endpoint.id)).toHaveLength(2);
  });

  it('a delivery that is inserted while its endpoint is switched off is closed without a send', async () => {
    const target = h.receiver.url();
    const endpoint = await h.endpoint(target.url);
    await switchOff(endpoint);
    await insertDelivery(h.database, newDelivery(endpoint));
    await h.sweep();
    expect(target.received).toEqual([]);
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'failed',
      attempts: 0,
      closed_at: h.clock(),
      sends: [],
    });
  });

  it.each([
    [500, 'failed'],
    [200, 'delivered'],
  ] as const)(
    'a delivery closed during a send whose response is %i is %s, and is not sent again',
    async (code, ending) => {
      const answered = Promise.withResolvers<void>();
      const target = h.receiver.url((response) => void answered.promise.then(() => response.writeHead(code).end()));
      const endpoint = await h.endpoint(target.url);
      await h.consume([suspended(endpoint, h.clock())]);
      await target.arrivals(1);
      await switchOff(endpoint);
      expect(await onlyDelivery(endpoint)).toMatchObject({
        status: 'failed',
        closed_at: h.clock(),
        leased_until: null,
      });
      answered.resolve();
      await h.dispatcher.whenIdle();
      const after = await onlyDelivery(endpoint);
      expect(after).toMatchObject({
        status: ending,
        attempts: 1,
        next_attempt_at: null,
        sends: [{ http_status: code }],
      });
      await switchOff(endpoint, true);
      h.clock.advance(10 * MINUTE_MS);
      await h.sweep();
      expect(target.received).toHaveLength(1);
    },
  );

  it('a deleted endpoint gets no further send', async () => {
    const { target, endpoint } = await delivered(status(500));
    await deleteEndpoint(h.database, endpoint.id, h.clock());
    h.clock.advance(MINUTE_MS);
    await h.sweep();
    expect(target.received).toHaveLength(1);
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'failed', attempts: 1, closed_at: h.clock() });
  });
});

describe('a delivery that a developer sends again', () => {
  it('a resend is a new delivery with the same bytes', async () => {
    const { target, endpoint, event, delivery } = await delivered();
    const [first] = target.received;
    const again = {
      ...newDelivery(endpoint),
      eventId: event.id,
      eventType: 'challenge.suspended',
      body: Buffer.from(first?.body ?? ''),
      resendOf: delivery.id,
    };
    await insertDelivery(h.database, again);
    h.dispatcher.wake([queueOf({ ...endpoint, endpointId: endpoint.id })]);
    await h.dispatcher.whenIdle();
    const [, second] = target.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers).toMatchObject({
      'x-webhook-delivery-id': again.id,
      'x-webhook-event': 'challenge.suspended',
    });
    expect((await h.deliveries(endpoint.id)).map((one) => one.status)).toEqual(['delivered', 'delivered']);
  });
});

describe('two processes', () => {
  it('two processes send each delivery exactly once', async () => {
    await using replica = h.startDispatcher();
    const targets = Array.from({ length: 20 }, () => h.receiver.url());
    const endpoints = await Promise.all(targets.map(({ url }) => h.endpoint(url)));
    const deliveries = endpoints.flatMap((endpoint) => Array.from({ length: 20 }, () => newDelivery(endpoint)));
    await Promise.all(deliveries.map((delivery) => insertDelivery(h.database, delivery)));
    const queues = deliveries.map(queueOf);
    h.dispatcher.wake(queues);
    replica.wake(queues);
    await Promise.all([h.dispatcher.whenIdle(), replica.whenIdle()]);
    await Promise.all([h.sweep(), h.sweep(replica)]);
    const sent = targets.flatMap(({ received }) => received.map(({ headers }) => headers['x-webhook-delivery-id']));
    expect(sent.toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
  });

  it('two processes that lease at the same time never lease the same delivery', async () => {
    const endpoint = await h.endpoint(h.receiver.url().url);
    const deliveries = Array.from({ length: 30 }, () => newDelivery(endpoint));
    await Promise.all(deliveries.map((delivery) => insertDelivery(h.database, delivery)));
    const times = { now: h.clock(), leasedUntil: new Date(h.clock().getTime() + 1_000), keyVersions: [1] };
    const leases = await Promise.all(
      Array.from({ length: 8 }, () =>
        leaseSends(h.database, [{ endpointId: endpoint.id, environment: 'test', slots: 4 }], times),
      ),
    );
    const leased = leases.flatMap(({ sends }) => sends.map(({ deliveryId }) => deliveryId));
    expect(new Set(leased).size).toBe(leased.length);
    expect(leased.length).toBeGreaterThanOrEqual(4);
    expect(
      await leaseSends(h.database, [{ endpointId: endpoint.id, environment: 'test', slots: 30 }], times),
    ).toMatchObject({
      sends: { length: 30 - leased.length },
    });
  });
});

describe('a late result of a send', () => {
  const times = () => ({ now: h.clock(), leasedUntil: new Date(h.clock().getTime() + 1_000), keyVersions: [1] });
  const noPhases = { dnsMs: null, connectMs: null, waitMs: null, readMs: null };

  async function leaseOne(endpoint: RegisteredEndpoint) {
    const { sends } = await leaseSends(
      h.database,
      [{ endpointId: endpoint.id, environment: 'test', slots: 1 }],
      times(),
    );
    const [send] = sends;
    if (send === undefined) throw new Error('nothing was leased');
    return send;
  }

  async function leasedTwice() {
    const endpoint = await h.endpoint(h.receiver.url().url);
    await insertDelivery(h.database, newDelivery(endpoint));
    const first = await leaseOne(endpoint);
    h.clock.advance(1_000);
    const second = await leaseOne(endpoint);
    expect([first.number, second.number]).toEqual([1, 2]);
    return { endpoint, first, second };
  }

  it('a late failure does not change the lease of the next send', async () => {
    const { endpoint, first, second } = await leasedTwice();
    expect(await onlyDelivery(endpoint)).toMatchObject({ sends: [{ number: 1, error_kind: 'interrupted' }] });
    const error = { kind: 'timeout', sentence: 'No answer came in time.' } as const;
    const result = { httpStatus: null, error, responseExcerpt: null, nextSendAt: h.clock() };
    await recordSends(h.database, [{ send: first, durationMs: 9, phases: noPhases, result }]);
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'pending',
      attempts: 2,
      leased_until: times().leasedUntil,
      sends: [{ number: 1, error_kind: 'timeout' }],
    });
    await recordSends(h.database, [
      { send: second, durationMs: 9, phases: noPhases, result: { ...result, nextSendAt: null } },
    ]);
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'failed', attempts: 2 });
  });

  it('a late success makes the delivery delivered, even if the next send fails', async () => {
    const { endpoint, first, second } = await leasedTwice();
    const success = { httpStatus: 200, error: null, responseExcerpt: '', nextSendAt: null };
    await recordSends(h.database, [{ send: first, durationMs: 9, phases: noPhases, result: success }]);
    const error = { kind: 'timeout', sentence: 'No answer came in time.' } as const;
    const failure = { httpStatus: null, error, responseExcerpt: null, nextSendAt: h.clock() };
    await recordSends(h.database, [{ send: second, durationMs: 9, phases: noPhases, result: failure }]);
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'delivered',
      attempts: 2,
      next_attempt_at: null,
      sends: [
        { number: 1, http_status: 200, error_kind: null },
        { number: 2, http_status: null, error_kind: 'timeout' },
      ],
    });
    await h.sweep();
    expect(await onlyDelivery(endpoint)).toMatchObject({ attempts: 2 });
  });

  it('the late result of a deleted delivery is discarded without affecting other results', async () => {
    const endpoint = await h.endpoint(h.receiver.url().url);
    await insertDelivery(h.database, newDelivery(endpoint));
    const gone = await leaseOne(endpoint);
    await h.database.query({ text: 'delete from deliveries where id = $1' }, [gone.deliveryId]);
    await insertDelivery(h.database, newDelivery(endpoint));
    const there = await leaseOne(endpoint);
    const result = { httpStatus: 200, error: null, responseExcerpt: '', nextSendAt: null };
    await recordSends(
      h.database,
      [gone, there].map((send) => ({ send, durationMs: 9, phases: noPhases, result })),
    );
    expect(await onlyDelivery(endpoint)).toMatchObject({ id: there.deliveryId, status: 'delivered' });
  });
});

it('a live event is sent without the mark of the sandbox', async () => {
  const target = h.receiver.url();
  const endpoint = await h.endpoint(target.url);
  const tenant = { ...endpoint.tenant, environment: Environment.LIVE };
  await h.consume([suspended(endpoint, h.clock(), { tenant })]);
  await h.dispatcher.whenIdle();
  expect(JSON.parse(target.received[0]?.body ?? '').data).not.toHaveProperty('test');
});
