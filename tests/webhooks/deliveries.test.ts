/** The delivery log and its actions for developers. Retries are minutes apart here, so that only requested sends happen. */
import type { DeliveryBody, DeliveryQuery, Portal } from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Developer, expectError, expectStatus, type Hook, startWorld, type World } from '../world.ts';
import { expectRequest, expectSignedWith, isSignedWith } from './expect-request.ts';
import { playAttempt } from './play.ts';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';

let world: World;
beforeAll(async () => {
  world = await startWorld({ environment: { webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '60,300' } } });
});
afterAll(() => world?.[Symbol.asyncDispose]());

let developer: Developer;
let portal: Portal;
beforeEach(async () => {
  developer = await world.newDeveloper();
  ({ portal } = developer);
});

const play = (how?: Parameters<typeof playAttempt>[2]) => playAttempt(world, developer, how);

/** The number of ended sends of the delivery in the log. */
const sent = (count: number) => (delivery: DeliveryBody) =>
  delivery.attempts.filter(({ duration_ms }) => duration_ms !== null).length === count;

/** A delivery whose first send has failed, so that a retry is scheduled. */
async function failOnce(hook: Hook, environment: 'test' | 'live' = 'test'): Promise<DeliveryBody> {
  const { deliveryId } = await hook.event('attempt.settled', await play({ environment }));
  return hook.delivery(deliveryId, sent(1));
}

async function testEvent({ endpoint }: Hook): Promise<string> {
  return expectStatus(202, await portal.sendTest(endpoint.id)).body.delivery_id;
}

async function retryNow(deliveryId: string): Promise<void> {
  const { body } = expectStatus(202, await developer.program.test.retryNow(deliveryId));
  expect(body).toEqual({ delivery_id: deliveryId });
}

describe('test events', () => {
  test('a test event is a complete webhook, and goes to the endpoint whatever it subscribes to', async () => {
    const scopes = [{}, { events: ['round.settled'], program_id: developer.program.id, environment: 'live' }] as const;
    for (const scope of scopes) {
      const hook = await world.newReceiver(developer, scope);
      const deliveryId = await testEvent(hook);
      const request = await hook.find((one) => one.deliveryId === deliveryId);
      const data = { message: expect.stringMatching(/^\S.*\S$/) };
      await expectRequest(hook, request, { event: 'webhook.test', data });
      expect(await hook.delivery(deliveryId)).toMatchObject({ event: 'webhook.test', status: 'delivered' });
    }
  });
});

describe('the early retry of a delivery', () => {
  test('an early retry replaces the scheduled one: the same delivery, counted, and three sends in all', async () => {
    const hook = await world.newReceiver(developer, { answer: { status: 503 } });
    const failed = await failOnce(hook);
    expect(failed).toMatchObject({ status: 'pending', attempts: [{ number: 1, http_status: 503 }] });
    const [first] = failed.attempts;
    const due = Date.parse(failed.next_attempt_at ?? '') - Date.parse(first?.started_at ?? '');
    expect(due - (first?.duration_ms ?? 0)).toBeGreaterThan(59_990);
    expect(due - (first?.duration_ms ?? 0)).toBeLessThan(60_500);

    await retryNow(failed.id);
    const again = await hook.delivery(failed.id, sent(2));
    expect(Date.parse(again.next_attempt_at ?? '') - Date.parse(again.attempts[1]?.started_at ?? '')).toBeGreaterThan(
      299_990,
    );
    await retryNow(failed.id);
    expect(await hook.delivery(failed.id)).toMatchObject({
      status: 'failed',
      next_attempt_at: null,
      attempts: [{ number: 1 }, { number: 2 }, { number: 3 }],
    });
    expectError(409, 'conflict', await developer.program.test.retryNow(failed.id));
    const sends = hook.sendsOf(failed.id);
    expect(sends).toHaveLength(3);
    expect(new Set(sends.map(({ body }) => body.toString())).size).toBe(1);
    for (const send of sends) await expectSignedWith(hook.secret, send);
  });

  test('an early retry delivers when the response is a 2xx, and then no further retry is possible', async () => {
    const hook = await world.newReceiver(developer, { answer: { status: 500 } });
    const { id } = await failOnce(hook);
    hook.receiver.answerWith({ status: 200 });
    await retryNow(id);
    expect(await hook.delivery(id)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }, { number: 2 }] });
    expectError(409, 'conflict', await developer.program.test.retryNow(id));
    expect(hook.requests()).toHaveLength(2);
  });

  test('an early retry is accepted with the test key of the event’s program, and with no other', async () => {
    const hook = await world.newReceiver(developer, { answer: { status: 500 } });
    const { id } = await failOnce(hook);
    const sibling = await world.newProgram(developer);
    for (const partner of [sibling.test, world.program.test]) expectError(404, 'not_found', await partner.retryNow(id));
    expectError(
      401,
      'unauthorized',
      await developer.program.live.send('POST', `/api/sandbox/webhook-deliveries/${id}/retry-now`),
    );
    for (const unknown of [UNKNOWN, 'nonsense']) {
      expectError(404, 'not_found', await developer.program.test.retryNow(unknown));
    }
    const live = await failOnce(hook, 'live');
    expectError(404, 'not_found', await developer.program.test.retryNow(live.id));
    expect(hook.requests()).toHaveLength(2);
  });

  test('an early retry of a test event is accepted with the test key of any program in the endpoint’s scope', async () => {
    const sibling = await world.newProgram(developer);
    const ofAll = await world.newReceiver(developer, { answer: { status: 500 } });
    const ofOne = await world.newReceiver(developer, { answer: { status: 500 }, program_id: developer.program.id });
    for (const hook of [ofAll, ofOne]) {
      const id = await testEvent(hook);
      await hook.delivery(id, sent(1));
      expectError(404, 'not_found', await world.program.test.retryNow(id));
      if (hook === ofAll) expectStatus(202, await sibling.test.retryNow(id));
      else expectError(404, 'not_found', await sibling.test.retryNow(id));
      if (hook === ofAll) await hook.delivery(id, sent(2));
      hook.receiver.answerWith({ status: 200 });
      await retryNow(id);
      expect(await hook.delivery(id)).toMatchObject({ event: 'webhook.test', status: 'delivered' });
    }
  });
});

describe('the delivery log', () => {
  test('the delivery log keeps the first 1,000 characters of a response, also of bytes that are not text', async () => {
    const mixed = Buffer.concat([Buffer.from('\0é😀 '), Buffer.from([0xff, 0xc3, 0]), Buffer.from('x'.repeat(2_000))]);
    const answers: readonly (readonly [Buffer | string, string])[] = [
      ['', ''],
      ['short', 'short'],
      ['a'.repeat(1_000), 'a'.repeat(1_000)],
      [`${'é'.repeat(999)}😀${'z'.repeat(20_000)}`, `${'é'.repeat(999)}😀`],
      ['\0'.repeat(5_000), ''],
      // Each byte sequence that can neither begin nor continue a character becomes one replacement character; NUL is dropped.
      [mixed, `é😀 \ufffd\ufffd${'x'.repeat(995)}`],
    ];
    const hook = await world.newReceiver(developer);
    for (const [body, excerpt] of answers) {
      for (const status of [200, 500]) {
        hook.receiver.answerWith({ status, body });
        const { attempts } = await hook.delivery(await testEvent(hook), sent(1));
        expect(attempts).toMatchObject([{ http_status: status, response_excerpt: excerpt }]);
      }
    }
  });

  test('the delivery log is listed newest first, and its filters and pages add up to the whole', async () => {
    const hook = await world.newReceiver(developer, {
      answer: ({ body }) => ({ status: body.includes('attempt.refunded') ? 500 : 200 }),
    });
    const log = async (query: DeliveryQuery = {}) => {
      const found: DeliveryBody[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = { ...query, ...(cursor !== undefined && { cursor }) };
        const { body } = expectStatus(200, await portal.listDeliveries(hook.endpoint.id, page));
        expect(body.data.length).toBeLessThanOrEqual(query.limit ?? 200);
        found.push(...body.data);
        cursor = body.next_cursor;
      }
      return found;
    };

    const ids: string[] = [];
    for (const what of ['settled', 'refunded', 'test', 'settled', 'refunded', 'test', 'test'] as const) {
      const id =
        what === 'test'
          ? await testEvent(hook)
          : (await hook.event(`attempt.${what}`, await play({ what }))).deliveryId;
      await hook.delivery(id, sent(1));
      ids.unshift(id);
    }
    const spent = ids.at(-2) ?? '';
    for (const count of [2, 3]) {
      await retryNow(spent);
      await hook.delivery(spent, sent(count));
    }

    const whole = await log();
    expect(whole.map(({ id }) => id)).toEqual(ids);
    const moments = whole.map(({ created_at }) => Date.parse(created_at));
    expect(moments).toEqual(moments.toSorted((a, b) => b - a));
    for (const limit of [1, 2, 3, 7, 200]) expect(await log({ limit })).toEqual(whole);
    const STATUSES = ['pending', 'delivered', 'failed'] as const;
    const EVENTS = ['attempt.settled', 'attempt.refunded', 'webhook.test', 'round.settled'] as const;
    for (const status of STATUSES) {
      const filtered = whole.filter((delivery) => delivery.status === status);
      expect(filtered.length).toBeGreaterThan(0);
      expect(await log({ status, limit: 2 })).toEqual(filtered);
    }
    for (const event of EVENTS) {
      expect(await log({ event, limit: 2 })).toEqual(whole.filter((delivery) => delivery.event === event));
    }
    const refundedAndFailed = await log({ status: 'failed', event: 'attempt.refunded' });
    expect(refundedAndFailed.map(({ id }) => id)).toEqual([spent]);
    expect(await log({ status: 'failed', event: 'webhook.test' })).toEqual([]);

    const path = `/webhook-endpoints/${hook.endpoint.id}/deliveries`;
    for (const query of ['cursor=nonsense', 'limit=0', 'limit=201', 'limit=x', 'status=sent', 'event=attempt.lost']) {
      expectError(400, 'invalid_request', await portal.send('GET', `${path}?${query}`));
    }
  });

  test('the delivery log is visible to its developer alone', async () => {
    const hook = await world.newReceiver(developer);
    const { id } = await hook.delivery(await testEvent(hook));
    const other = await world.newDeveloper();
    expectError(404, 'not_found', await other.portal.listDeliveries(hook.endpoint.id));
    expectError(404, 'not_found', await other.portal.resend(id));
  });
});

describe('the resend of a delivery', () => {
  test('a resent delivery is a new one with the same body, whatever the result of the first', async () => {
    const hook = await world.newReceiver(developer);
    const { deliveryId: delivered, body } = await hook.event('attempt.settled', await play());
    await hook.delivery(delivered);
    hook.receiver.answerWith({ status: 500 });
    const pending = await failOnce(hook);
    hook.receiver.answerWith({ status: 200 });

    for (const original of [delivered, pending.id]) {
      const { delivery_id: again } = expectStatus(202, await portal.resend(original)).body;
      expect(again).not.toBe(original);
      expect(await hook.delivery(again)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] });
      const [request, ...others] = hook.sendsOf(again);
      expect(others).toEqual([]);
      const [first] = hook.sendsOf(original);
      expect(request?.body).toEqual(first?.body);
      expect(request?.headers['x-webhook-event']).toBe('attempt.settled');
      if (request !== undefined) await expectSignedWith(hook.secret, request);
    }
    expect(hook.sendsOf(delivered)).toMatchObject([{ body }]);
    expect(await hook.log()).toHaveLength(4);
    expect(await hook.delivery(pending.id, sent(1))).toEqual(pending);
    for (const unknown of [UNKNOWN, 'nonsense']) expectError(404, 'not_found', await portal.resend(unknown));
  });
});

describe('changes between a send and its retry', () => {
  test('a rotated secret signs the next retry, and the old one signs nothing further', async () => {
    const hook = await world.newReceiver(developer, { answer: { status: 500 } });
    const { id } = await failOnce(hook);
    const rotated = expectStatus(200, await portal.rotateSecret(hook.endpoint.id)).body;
    const { signing_secret: secret, ...endpoint } = rotated;
    expect(endpoint).toEqual(hook.endpoint);
    expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
    expect(secret).not.toBe(hook.secret);
    await retryNow(id);
    await hook.delivery(id, sent(2));
    const [first, second] = hook.sendsOf(id);
    if (first === undefined || second === undefined) throw new Error('a send is missing');
    expect(second.body).toEqual(first.body);
    await expectSignedWith(hook.secret, first);
    await expectSignedWith(secret, second);
    expect(await isSignedWith(hook.secret, second)).toBe(false);
  });

  test('a retry goes to the changed URL', async () => {
    const [old, moved] = [
      await world.newReceiver(developer, { answer: { status: 500 } }),
      await world.newReceiver(developer),
    ];
    expectStatus(204, await portal.deleteEndpoint(moved.endpoint.id));
    const { id, attempts } = await failOnce(old);
    expect(attempts).toHaveLength(1);
    expectStatus(200, await portal.updateEndpoint(old.endpoint.id, { url: moved.endpoint.url }));
    await retryNow(id);
    await expectSignedWith(old.secret, await moved.find(({ deliveryId }) => deliveryId === id));
    expect(old.requests()).toHaveLength(1);
  });
});

describe('an endpoint that is switched off', () => {
  test('an endpoint that is switched off has its pending deliveries closed and gets new events only once it is on again', async () => {
    const witness = await world.newReceiver(developer);
    const hook = await world.newReceiver(developer, { answer: { status: 500 } });
    const { id } = hook.endpoint;
    const pending = await failOnce(hook);
    expect(expectStatus(200, await portal.updateEndpoint(id, { active: false })).body).toEqual({
      ...hook.endpoint,
      active: false,
    });
    hook.receiver.answerWith({ status: 200 });

    const closed = await hook.delivery(pending.id);
    expect(closed).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(closed.attempts).toEqual([
      pending.attempts[0],
      {
        number: 2,
        started_at: expect.any(String),
        duration_ms: null,
        http_status: null,
        error_kind: 'endpoint_off',
        error: 'The endpoint was off.',
        response_excerpt: null,
      },
    ]);
    expectError(409, 'conflict', await developer.program.test.retryNow(pending.id));
    expectError(409, 'conflict', await portal.resend(pending.id));
    expectError(409, 'conflict', await portal.sendTest(id));
    await witness.event('attempt.settled', await play());
    await world.allDelivered();
    expect(hook.requests()).toHaveLength(1);

    expect(expectStatus(200, await portal.updateEndpoint(id, { active: true })).body).toEqual(hook.endpoint);
    const later = await play();
    await hook.event('attempt.settled', later);
    await world.allDelivered();
    expect(hook.requests().map(({ deliveryId }) => deliveryId)).toEqual([
      pending.id,
      (await hook.event('attempt.settled', later)).deliveryId,
    ]);
    expect(await hook.log()).toHaveLength(2);
  });
});

describe('an endpoint that is deleted', () => {
  test('a deleted endpoint is 404, and gets nothing', async () => {
    const witness = await world.newReceiver(developer);
    const hook = await world.newReceiver(developer, { answer: { status: 500 } });
    const { id } = hook.endpoint;
    const pending = await failOnce(hook);
    expectStatus(204, await portal.deleteEndpoint(id));
    hook.receiver.answerWith({ status: 200 });

    expectError(404, 'not_found', await portal.getEndpoint(id));
    expectError(404, 'not_found', await portal.updateEndpoint(id, { active: true }));
    expectError(404, 'not_found', await portal.rotateSecret(id));
    expectError(404, 'not_found', await portal.sendTest(id));
    expectError(404, 'not_found', await portal.listDeliveries(id));
    expectError(404, 'not_found', await portal.resend(pending.id));
    expectError(404, 'not_found', await developer.program.test.retryNow(pending.id));
    expectError(404, 'not_found', await portal.deleteEndpoint(id));
    expect(expectStatus(200, await portal.listEndpoints()).body.data).toEqual([witness.endpoint]);
    await witness.event('attempt.settled', await play());
    await world.allDelivered();
    expect(hook.requests()).toHaveLength(1);
  });
});
