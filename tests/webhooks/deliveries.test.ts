/**
 * A developer's endpoints, their deliveries and the log, through the portal, on one stack; and
 * secrets that no log may contain. services/webhook and services/gateway/src/routes/portal test
 * each rule. Retries are minutes apart here, so that only requested sends happen.
 */
import { randomUUID } from 'node:crypto';
import { createPartner, type DeliveryBody, type Portal, SERVICES, signIn } from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Developer, expectError, expectStatus, type Hook, startWorld, type World } from '../world.ts';
import { expectRequest, expectSignedWith, isSignedWith } from './expect-request.ts';
import { playAttempt } from './play.ts';

let world: World;
beforeAll(async () => {
  // Secrets must not be logged at the debug level either.
  const chatty = { LOG_LEVEL: 'debug' };
  const webhook = { ...chatty, WEBHOOK_RETRY_DELAYS_SECONDS: '60,300' };
  world = await startWorld({
    environment: { wallet: chatty, challenge: chatty, tournament: chatty, gateway: chatty, webhook },
  });
});
afterAll(() => world?.[Symbol.asyncDispose]());

let developer: Developer;
let portal: Portal;
beforeEach(async () => {
  developer = await world.newDeveloper();
  ({ portal } = developer);
});

/** The number of ended sends of the delivery in the log. */
const sent = (count: number) => (delivery: DeliveryBody) =>
  delivery.attempts.filter(({ duration_ms }) => duration_ms !== null).length === count;

/** A delivery whose first send has failed, so that a retry is scheduled. */
async function failOnce(hook: Hook): Promise<DeliveryBody> {
  const { deliveryId } = await hook.event('attempt.settled', await playAttempt(world, developer));
  return hook.delivery(deliveryId, sent(1));
}

async function testEvent({ endpoint }: Hook): Promise<string> {
  return expectStatus(202, await portal.sendTest(endpoint.id)).body.delivery_id;
}

async function retryNow(deliveryId: string): Promise<void> {
  const { body } = expectStatus(202, await developer.program.test.retryNow(deliveryId));
  expect(body).toEqual({ delivery_id: deliveryId });
}

test('an endpoint’s secret is shown at its creation and in no later read or change', async () => {
  const scope = { program_id: developer.program.id, environment: 'test', description: 'Höhle der 選手 🏆' } as const;
  const url = 'https://127.0.0.1:9443/hooks?from=laurel';
  const made = expectStatus(201, await portal.createEndpoint({ url, events: ['attempt.settled'], ...scope })).body;
  const { signing_secret: secret, ...endpoint } = made;
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(endpoint).toEqual({
    ...{ id: expect.any(String), url, events: ['attempt.settled'], ...scope },
    ...{ active: true, created_at: expect.any(String) },
  });
  const change = { url: 'https://127.0.0.1:9444/', events: ['award.released' as const], active: false };
  const changed = { ...endpoint, ...change };
  const answers = [
    expectStatus(200, await portal.updateEndpoint(made.id, change)),
    expectStatus(200, await portal.getEndpoint(made.id)),
  ];
  for (const { body } of answers) expect(body).toEqual(changed);
  const listed = expectStatus(200, await portal.listEndpoints());
  expect(listed.body).toEqual({ data: [changed] });
  for (const { text } of [...answers, listed]) expect(text).not.toContain('whsec_');
  for (const refused of ['https://10.0.0.1/', 'http://127.0.0.1:9443/']) {
    expectError(400, 'invalid_request', await portal.createEndpoint({ url: refused }));
  }
  const other = (await world.newDeveloper()).portal;
  expectError(404, 'not_found', await other.getEndpoint(made.id));
  expectError(404, 'not_found', await other.listDeliveries(made.id));
  expectError(409, 'conflict', await portal.sendTest(made.id));
  expectStatus(204, await portal.deleteEndpoint(made.id));
  expectError(404, 'not_found', await portal.getEndpoint(made.id));
});

test('a test event goes to the endpoint whatever the endpoint subscribes to', async () => {
  const scope = { events: ['round.settled'], program_id: developer.program.id, environment: 'live' } as const;
  const hook = await world.newReceiver(developer, scope);
  const deliveryId = await testEvent(hook);
  const request = await hook.find((one) => one.deliveryId === deliveryId);
  await expectRequest(hook, request, { event: 'webhook.test', data: { message: expect.stringMatching(/^\S.*\S$/) } });
  expect(await hook.delivery(deliveryId)).toMatchObject({ event: 'webhook.test', status: 'delivered' });
});

test('an early retry replaces the scheduled retry of the same delivery', async () => {
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

test('an early retry of an event needs the test key of the event’s program', async () => {
  const hook = await world.newReceiver(developer, { answer: { status: 500 } });
  const { id } = await failOnce(hook);
  const sibling = await world.newProgram(developer);
  for (const partner of [sibling.test, world.program.test]) expectError(404, 'not_found', await partner.retryNow(id));
  const retryWithLive = `/api/sandbox/webhook-deliveries/${id}/retry-now`;
  expectError(401, 'unauthorized', await developer.program.live.send('POST', retryWithLive));
  const ofTest = await testEvent(hook);
  await hook.delivery(ofTest, sent(1));
  expectError(404, 'not_found', await world.program.test.retryNow(ofTest));
  hook.receiver.answerWith({ status: 200 });
  expectStatus(202, await sibling.test.retryNow(ofTest));
  expect(await hook.delivery(ofTest)).toMatchObject({ event: 'webhook.test', status: 'delivered' });
  await retryNow(id);
  expect(await hook.delivery(id)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }, { number: 2 }] });
});

test('a delivery of the log is sent again on request', async () => {
  const hook = await world.newReceiver(developer, { answer: { status: 500, body: 'x'.repeat(2_000) } });
  const { id } = await failOnce(hook);
  const query = { limit: 1 };
  hook.receiver.answerWith({ status: 200 });
  const again = expectStatus(202, await portal.resend(id)).body.delivery_id;
  expect(await hook.delivery(again)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] });
  expect(hook.sendsOf(again).map(({ body }) => body)).toEqual(hook.sendsOf(id).map(({ body }) => body));
  const first = expectStatus(200, await portal.listDeliveries(hook.endpoint.id, query)).body;
  const cursor = first.next_cursor ?? '';
  const second = expectStatus(200, await portal.listDeliveries(hook.endpoint.id, { ...query, cursor })).body;
  expect([...first.data, ...second.data].map((delivery) => delivery.id)).toEqual([again, id]);
  expect(second.data[0]?.attempts).toMatchObject([{ http_status: 500, response_excerpt: 'x'.repeat(1_000) }]);
  const filtered = await hook.log({ status: 'pending', event: 'attempt.settled' });
  expect(filtered.map((delivery) => delivery.id)).toEqual([id]);
});

test('a rotated secret signs the next retry', async () => {
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

test('no secret, password, token, e-mail or body is in any log', async () => {
  const owner = await world.newDeveloper();
  const email = `${randomUUID()}@example.com`;
  const password = `password ${randomUUID()}`;
  const wrong = { email: `${randomUUID()}@example.com`, password: `guess ${randomUUID()}` };
  const answered = `answer-${randomUUID()}`;
  const path = `token-${randomUUID()}`;
  const description = `description-${randomUUID()}`;
  expectStatus(201, await world.operator.createDeveloper({ email, password }));
  expectError(409, 'conflict', await world.operator.createDeveloper({ email, password }));
  const { token } = expectStatus(201, await signIn(world.http, { email, password })).body;
  expectStatus(401, await signIn(world.http, wrong));
  expectStatus(401, await signIn(world.http, { email, password: wrong.password }));
  const cookie = { cookie: `laurel_session=${token}`, 'sec-fetch-site': 'same-origin' };
  expectStatus(200, await world.http.send('GET', '/api/portal/programs', { headers: cookie }));
  expectStatus(204, await world.http.send('DELETE', '/api/portal/session', { headers: cookie }));
  const bad = { url: `https://user:${path}@example.com/`, description };
  expectError(400, 'invalid_request', await owner.portal.createEndpoint(bad));

  // The events: one accepted, one refused until no send is left, one without a listener, and one
  // sent again.
  const hook = await world.newReceiver(owner, { description, answer: { body: answered } });
  const url = `${hook.receiver.url}/${path}?key=${path}`;
  expectStatus(200, await owner.portal.updateEndpoint(hook.endpoint.id, { url }));
  const refusing = await world.newReceiver(owner, { answer: { status: 500, body: answered } });
  const silent = await world.newReceiver(owner, { answer: 'reset' });
  const { signing_secret: rotated } = expectStatus(200, await owner.portal.rotateSecret(hook.endpoint.id)).body;
  const { test_key } = expectStatus(200, await owner.portal.replaceTestKey(owner.program.id)).body;
  const partner = createPartner(world.http, test_key);
  const challenge = await world.newChallenge({}, owner.program);
  const ref = `ref-${randomUUID()}`;
  expectStatus(201, await partner.createPlayer(ref, '10.00'));
  const entry = { challenge_id: challenge.id, player_ref: ref };
  const attempt = expectStatus(201, await partner.createAttempt(entry)).body;
  expectStatus(200, await partner.reportOutcome(attempt.id, { score: 100 }));
  const arrived = await hook.event('attempt.settled', attempt.id);
  await hook.delivery(arrived.deliveryId);
  for (const failing of [refusing, silent]) {
    const { deliveryId } = await failing.event('attempt.settled', attempt.id);
    for (const count of [1, 2]) {
      await failing.delivery(deliveryId, sent(count));
      expectStatus(202, await partner.retryNow(deliveryId));
    }
    expect((await failing.delivery(deliveryId)).status).toBe('failed');
  }
  const again = expectStatus(202, await owner.portal.resend(arrived.deliveryId)).body;
  await hook.delivery(again.delivery_id);

  const secrets: Record<string, string> = {
    email,
    password,
    token,
    'a session': owner.portal.token,
    'an unknown e-mail': wrong.email,
    'a wrong password': wrong.password,
    'a secret': hook.secret,
    'a secret without its prefix': hook.secret.slice('whsec_'.length),
    'a rotated secret': rotated.slice('whsec_'.length),
    'a key': test_key,
    'a replaced key': owner.program.test.apiKey,
    'the operator’s token': world.stack.operatorToken,
    'a URL’s secret part': path,
    'a description': description,
    'an answer': answered,
    'a body': arrived.body.toString(),
    'a body in hexadecimal': arrived.body.toString('hex').slice(0, 60),
    'a body in base64': arrived.body.toString('base64').slice(0, 60),
    'a signature': String(arrived.headers['x-webhook-signature']).slice('sha256='.length),
    'a part of a body': '"player_ref"',
    'a player': ref,
  };
  for (const service of SERVICES) {
    const log = world.stack.logs(service).join('\n');
    const found = Object.keys(secrets).filter((what) => log.includes(secrets[what] as string));
    expect(found, `${service} logs a secret`).toEqual([]);
  }
  // The log still contains what was done.
  const gateway = world.stack.logs('gateway').join('\n');
  for (const logged of [owner.id, hook.endpoint.id, 'replace_test_key', 'rotate_webhook_secret', 'sign_out']) {
    expect(gateway).toContain(logged);
  }
  await world.expectAuditOk();
});
