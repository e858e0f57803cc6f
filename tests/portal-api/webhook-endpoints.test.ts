import { randomUUID } from 'node:crypto';
import type { WebhookEventType } from '@laurel/sdk';
import {
  type Answer,
  createHttpClient,
  createPartner,
  createPortal,
  type EndpointBody,
  EVENT_TYPES,
  type HttpClient,
  SERVICES,
  signIn,
} from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Developer, expectError, expectStatus, startWorld, type World } from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SECRET = /^whsec_[0-9a-f]{64}$/;
const MAX_ENDPOINTS = 20;
/** A port without a listener. */
const UNUSED_URL = 'https://127.0.0.1:9443/hooks?from=laurel';

describe('/api/portal/webhook-endpoints', () => {
  let world: World;
  let developer: Developer;
  /** One client per gateway. */
  let gateways: HttpClient[];
  beforeAll(async () => {
    const chatty = { LOG_LEVEL: 'debug' };
    world = await startWorld({
      replicas: { gateway: 2, webhook: 2 },
      // Secrets must not be logged at the debug level either.
      environment: { wallet: chatty, challenge: chatty, tournament: chatty, webhook: chatty, gateway: chatty },
    });
    gateways = world.stack.baseUrls.map((baseUrl) => createHttpClient({ baseUrl, onAnswer: world.contract.check }));
    developer = await world.newDeveloper();
  });
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway[Symbol.asyncDispose]()));
    await world?.[Symbol.asyncDispose]();
  });

  const idsOf = async ({ portal }: Pick<Developer, 'portal'>) =>
    expectStatus(200, await portal.listEndpoints()).body.data.map(({ id }) => id);
  const newEndpoint = async (owner: Pick<Developer, 'portal'> = developer): Promise<EndpointBody> => {
    const { signing_secret: _secret, ...endpoint } = expectStatus(
      201,
      await owner.portal.createEndpoint({ url: UNUSED_URL }),
    ).body;
    return endpoint;
  };

  describe('one webhook endpoint', () => {
    test('a webhook endpoint is made as requested, with a secret that is shown only in this response', async () => {
      const owner = await world.newDeveloper();
      const answer = await owner.portal.createEndpoint({
        url: UNUSED_URL,
        events: ['attempt.settled', 'round.settled'],
        program_id: owner.program.id.toUpperCase(),
        environment: 'test',
        description: 'Höhle der 選手 🏆\n"<b>',
      });
      const { signing_secret, ...endpoint } = expectStatus(201, answer).body;
      expect(signing_secret).toMatch(SECRET);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(endpoint).toEqual({
        id: expect.stringMatching(UUID),
        url: UNUSED_URL,
        events: ['attempt.settled', 'round.settled'],
        program_id: owner.program.id,
        environment: 'test',
        description: 'Höhle der 選手 🏆\n"<b>',
        active: true,
        created_at: expect.stringMatching(TIMESTAMP),
      });
      const { id } = endpoint;
      const shown = [
        expectStatus(200, await owner.portal.getEndpoint(id)),
        expectStatus(200, await owner.portal.updateEndpoint(id, { active: true })),
      ];
      for (const { body } of shown) expect(body).toEqual(endpoint);
      const listed = expectStatus(200, await owner.portal.listEndpoints());
      expect(listed.body).toEqual({ data: [endpoint] });
      for (const { text } of [...shown, listed]) expect(text).not.toContain('whsec_');
    });

    test('a webhook endpoint needs only a URL, and accepts null for optional fields', async () => {
      const owner = await world.newDeveloper();
      for (const body of [
        { url: UNUSED_URL },
        { url: UNUSED_URL, events: [], program_id: null, environment: null, description: null },
        { url: UNUSED_URL, description: '' },
      ]) {
        const answer = await owner.portal.send<EndpointBody>('POST', '/webhook-endpoints', { body });
        expect(expectStatus(201, answer).body).toMatchObject({
          events: [],
          program_id: null,
          environment: null,
          description: '',
        });
      }
    });

    test('a webhook endpoint may be at a name that does not resolve', async () => {
      const made = await developer.portal.createEndpoint({ url: 'https://nowhere.invalid/hooks' });
      expectStatus(204, await developer.portal.deleteEndpoint(expectStatus(201, made).body.id));
    });

    test('a webhook endpoint keeps a description of 1,000 code points, and stores each event once', async () => {
      const description = '🏆'.repeat(1_000);
      const events: WebhookEventType[] = [...EVENT_TYPES, ...EVENT_TYPES];
      const { id, ...made } = expectStatus(
        201,
        await developer.portal.createEndpoint({ url: UNUSED_URL, description, events }),
      ).body;
      expect(made).toMatchObject({ description, events: [...EVENT_TYPES] });
      const twice: WebhookEventType[] = ['round.settled', 'round.settled'];
      const changed = await developer.portal.updateEndpoint(id, { events: twice });
      expect(expectStatus(200, changed).body.events).toEqual(['round.settled']);
      expectStatus(204, await developer.portal.deleteEndpoint(id));
    });

    test('an update of a webhook endpoint changes only the fields that are sent', async () => {
      const { signing_secret: _secret, ...made } = expectStatus(
        201,
        await developer.portal.createEndpoint({
          url: UNUSED_URL,
          events: ['attempt.settled'],
          program_id: developer.program.id,
          environment: 'live',
          description: 'first',
        }),
      ).body;
      let expected: EndpointBody = made;
      for (const change of [
        { active: false },
        { url: 'https://127.0.0.1:9444/' },
        { events: ['award.released', 'webhook.test'] as WebhookEventType[] },
        { description: 'second' },
        { description: '' },
        { events: [] },
        { active: true, url: UNUSED_URL, events: ['attempt.settled'] as WebhookEventType[], description: 'first' },
      ]) {
        expected = { ...expected, ...change };
        expect(expectStatus(200, await developer.portal.updateEndpoint(made.id, change)).body).toEqual(expected);
        expect(expectStatus(200, await developer.portal.getEndpoint(made.id)).body).toEqual(expected);
      }
      expect(expected).toEqual(made);
      expectStatus(204, await developer.portal.deleteEndpoint(made.id));
    });

    test('a webhook endpoint gets a new secret on request, and is unchanged otherwise', async () => {
      const { signing_secret: first, ...made } = expectStatus(
        201,
        await developer.portal.createEndpoint({ url: UNUSED_URL, description: 'mine' }),
      ).body;
      const secrets = [first];
      for (let count = 0; count < 3; count += 1) {
        const answer = expectStatus(200, await developer.portal.rotateSecret(made.id));
        const { signing_secret, ...rotated } = answer.body;
        expect(rotated).toEqual(made);
        expect(signing_secret).toMatch(SECRET);
        expect(answer.headers['cache-control']).toBe('no-store');
        secrets.push(signing_secret);
      }
      expect(new Set(secrets).size).toBe(4);
      const stored = await world.stack
        .database('webhook')
        .query<{ row: string }>('select e::text as row from endpoints e where id = $1', [made.id]);
      for (const secret of secrets) {
        for (const { row } of stored) {
          expect(row).not.toContain(secret.slice('whsec_'.length));
          expect(row).not.toContain(Buffer.from(secret).toString('hex'));
        }
      }
      expectStatus(204, await developer.portal.deleteEndpoint(made.id));
    });

    test('a deleted webhook endpoint is 404 on every route', async () => {
      const { id } = await newEndpoint();
      const kept = await newEndpoint();
      const deleted = expectStatus(204, await developer.portal.deleteEndpoint(id));
      expect(deleted.text).toBe('');
      for (const gone of [
        await developer.portal.getEndpoint(id),
        await developer.portal.updateEndpoint(id, { active: true }),
        await developer.portal.rotateSecret(id),
        await developer.portal.sendTest(id),
        await developer.portal.listDeliveries(id),
        await developer.portal.deleteEndpoint(id),
      ]) {
        expectError(404, 'not_found', gone);
      }
      expect(await idsOf(developer)).toEqual([kept.id]);
      expectStatus(204, await developer.portal.deleteEndpoint(kept.id));
    });

    test('a webhook endpoint that is off is sent nothing on request either', async () => {
      const { id } = await newEndpoint();
      expectStatus(200, await developer.portal.updateEndpoint(id, { active: false }));
      expectError(409, 'conflict', await developer.portal.sendTest(id));
      expect(expectStatus(200, await developer.portal.listDeliveries(id)).body).toEqual({
        data: [],
        next_cursor: null,
      });
      expectStatus(204, await developer.portal.deleteEndpoint(id));
    });
  });

  describe('the webhook endpoints of a developer', () => {
    test('a developer has at most 20 webhook endpoints, also in parallel, and may add one after a deletion', async () => {
      const owner = await world.newDeveloper();
      const other = await world.newDeveloper();
      const at = (index: number) => createPortal(gateways[index % 2] as HttpClient, owner.portal.token);
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => at(index).createEndpoint({ url: UNUSED_URL })),
      );
      const made = answers.filter(({ status }) => status === 201);
      const refused = answers.filter(({ status }) => status !== 201);
      expect(made).toHaveLength(MAX_ENDPOINTS);
      for (const answer of refused) expectError(409, 'conflict', answer);
      expect(new Set(made.map(({ body }) => body.signing_secret)).size).toBe(MAX_ENDPOINTS);
      const ids = await idsOf(owner);
      expect(new Set(ids)).toEqual(new Set(made.map(({ body }) => body.id)));

      // One that is off counts; another developer's does not.
      const [first = '', second = ''] = ids;
      expectStatus(200, await owner.portal.updateEndpoint(first, { active: false }));
      expectError(409, 'conflict', await owner.portal.createEndpoint({ url: UNUSED_URL }));
      await newEndpoint(other);
      expectStatus(204, await owner.portal.deleteEndpoint(first));
      expectStatus(204, await owner.portal.deleteEndpoint(second));
      const again = await Promise.all(
        Array.from({ length: 6 }, (_, index) => at(index).createEndpoint({ url: UNUSED_URL })),
      );
      expect(again.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
      const times = expectStatus(200, await owner.portal.listEndpoints()).body.data.map((one) => one.created_at);
      expect(times).toEqual([...times].sort());
    });

    test('parallel changes and a deletion of one webhook endpoint each answer its state', async () => {
      const owner = await world.newDeveloper();
      const { id } = await newEndpoint(owner);
      const at = (index: number) => createPortal(gateways[index % 2] as HttpClient, owner.portal.token);
      const answers: Promise<Answer<unknown>>[] = [];
      for (let index = 0; index < 10; index += 1) {
        answers.push(
          at(index).updateEndpoint(id, { active: index % 2 === 0 }),
          at(index).rotateSecret(id),
          at(index).getEndpoint(id),
          ...(index % 4 === 2 ? [at(index).deleteEndpoint(id)] : []),
        );
      }
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 204)).toHaveLength(1);
      expect(new Set([...statuses, 200, 204, 404])).toEqual(new Set([200, 204, 404]));
      expectError(404, 'not_found', await owner.portal.getEndpoint(id));
    });
  });

  test('a URL that the webhook service refuses is a 400, and neither makes nor changes a webhook endpoint', async () => {
    const owner = await world.newDeveloper();
    const made = await newEndpoint(owner);
    for (const url of ['http://127.0.0.1:9443/', 'https://10.0.0.1/', 'https://127.0.0.1:22/']) {
      expectError(400, 'invalid_request', await owner.portal.createEndpoint({ url }));
      expectError(400, 'invalid_request', await owner.portal.updateEndpoint(made.id, { url, active: false }));
    }
    expect(expectStatus(200, await owner.portal.listEndpoints()).body.data).toEqual([made]);
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

    // An event that is accepted, one that is refused until no send is left, one without a listener, and one that is sent again.
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
    // The log still has what was done.
    const gateway = world.stack.logs('gateway').join('\n');
    for (const logged of [owner.id, hook.endpoint.id, 'replace_test_key', 'rotate_webhook_secret', 'sign_out']) {
      expect(gateway).toContain(logged);
    }
    await world.expectAuditOk();
  });
});
