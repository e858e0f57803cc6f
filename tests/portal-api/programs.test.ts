import { randomUUID } from 'node:crypto';
import { createHttpClient, createPartner, type HttpClient, type ProgramBody, type SendOptions } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Developer, eventually, expectError, expectStatus, startWorld, type World } from '../world.ts';
import { PORTAL_ROUTES, pathOf, type Resource, resourceOf } from './routes.ts';

describe('programs in the developer portal', () => {
  let world: World;
  let developer: Developer;
  /** One client per gateway. */
  let gateways: HttpClient[];
  beforeAll(async () => {
    world = await startWorld({ replicas: { gateway: 2 } });
    gateways = world.stack.baseUrls.map((baseUrl) => createHttpClient({ baseUrl, onAnswer: world.contract.check }));
    developer = await world.newDeveloper();
  });
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway[Symbol.asyncDispose]()));
    await world?.[Symbol.asyncDispose]();
  });

  describe('resources of another developer in the portal', () => {
    const MALFORMED = [
      'nonsense',
      'a'.repeat(2_000),
      '%00',
      "1'--",
      `${randomUUID()}0`,
      `${randomUUID()}%20`,
      `%7B${randomUUID()}%7D`,
      randomUUID().replaceAll('-', ''),
      '..%2f..%2foperator%2fprograms',
      '%E0%A4%A',
    ];

    test('another developer’s resources are 404 on every portal route', async () => {
      const owner = await world.newDeveloper();
      const hook = await world.newReceiver(owner);
      const { delivery_id } = expectStatus(202, await owner.portal.sendTest(hook.endpoint.id)).body;
      await hook.delivery(delivery_id);
      const gone = expectStatus(201, await developer.portal.createEndpoint({ url: 'https://127.0.0.1:9443/' })).body;
      expectStatus(204, await developer.portal.deleteEndpoint(gone.id));
      const ownerless = await world.newProgram();
      const foreign: Record<Resource, readonly string[]> = {
        program: [owner.program.id, ownerless.id, hook.endpoint.id],
        endpoint: [hook.endpoint.id, hook.endpoint.id.toUpperCase(), gone.id, delivery_id, owner.program.id],
        delivery: [delivery_id, delivery_id.toUpperCase(), hook.endpoint.id],
      };

      const before = await world.digest();
      for (const route of PORTAL_ROUTES) {
        const resource = resourceOf(route);
        if (resource === undefined) continue;
        const options = route.body && { body: route.body };
        const unknown = await developer.portal.send(route.method, pathOf(route, randomUUID()), options);
        expectError(404, 'not_found', unknown);
        for (const id of Object.values(foreign).flat()) {
          const answer = await developer.portal.send(route.method, pathOf(route, id), options);
          expect({ status: answer.status, text: answer.text }, `${route.method} ${pathOf(route, id)}`).toEqual({
            status: 404,
            text: unknown.text,
          });
        }
        for (const id of MALFORMED) {
          expectError(404, 'not_found', await developer.portal.send(route.method, pathOf(route, id), options));
        }
      }
      for (const program_id of [owner.program.id, ownerless.id, randomUUID(), owner.program.id.toUpperCase()]) {
        const answer = await developer.portal.createEndpoint({ url: 'https://127.0.0.1:9443/', program_id });
        expectError(404, 'not_found', answer);
      }
      expect(await world.digest()).toEqual(before);
      expect(expectStatus(200, await developer.portal.listEndpoints()).body.data).toEqual([]);

      // The same requests succeed for their developer, even in upper case.
      const own: Record<Resource, string> = {
        program: owner.program.id,
        endpoint: hook.endpoint.id,
        delivery: delivery_id,
      };
      const served = PORTAL_ROUTES.filter(({ method }) => method !== 'DELETE' && method !== 'PATCH');
      for (const route of served) {
        const resource = resourceOf(route);
        const path = pathOf(route, resource === undefined ? '' : own[resource].toUpperCase());
        const answer = await owner.portal.send(route.method, path, route.body && { body: route.body });
        expect({ path, ok: answer.status >= 200 && answer.status < 300 }).toEqual({ path, ok: true });
      }
      await hook.receiver.nth(3);
      expectStatus(200, await owner.portal.updateEndpoint(hook.endpoint.id.toUpperCase(), { active: false }));
      expectStatus(204, await owner.portal.deleteEndpoint(hook.endpoint.id.toUpperCase()));
    });

    test('no API accepts a token or key of another API', async () => {
      const { token } = developer.portal;
      const { test: sandbox, live } = developer.program;
      const operatorToken = world.stack.operatorToken;
      const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
      const before = await world.digest();
      const refused: [string, string, SendOptions][] = [];
      for (const headers of [bearer(token), { cookie: `laurel_session=${token}` }, { 'x-api-key': token }]) {
        refused.push(
          ['GET', '/api/operator/programs', { headers }],
          ['GET', '/api/operator/audit', { headers }],
          ['POST', '/api/operator/programs', { headers, body: { name: 'Mine', developer_id: developer.id } }],
          ['POST', '/api/operator/developers', { headers, body: { email: 'a@example.com', password: 'x'.repeat(12) } }],
          ['PATCH', `/api/operator/programs/${developer.program.id}`, { headers, body: { status: 'approved' } }],
          ['GET', '/v1/challenges?player_ref=a', { headers }],
          ['GET', '/v1/tournaments', { headers }],
          ['POST', '/v1/players', { headers, body: { player_ref: 'a', email: 'a@example.com' } }],
          ['POST', '/api/sandbox/players', { headers, body: { player_ref: 'a' } }],
          ['POST', `/api/sandbox/webhook-deliveries/${randomUUID()}/retry-now`, { headers }],
          ['GET', '/api/sandbox/events', { headers }],
        );
      }
      for (const key of [sandbox.apiKey, live.apiKey, operatorToken]) {
        for (const headers of [bearer(key), { cookie: `laurel_session=${key}` }, { 'x-api-key': key }]) {
          for (const route of PORTAL_ROUTES) {
            const path = pathOf(route, developer.program.id);
            refused.push([route.method, `/api/portal${path}`, { headers, ...(route.body && { body: route.body }) }]);
          }
        }
      }
      for (const [method, path, options] of refused) {
        const answer = await world.http.send(method, path, options);
        expect({ path, status: answer.status, code: answer.code }, Object.keys(options.headers ?? {}).join()).toEqual({
          path,
          status: 401,
          code: 'unauthorized',
        });
      }
      expect(await world.digest()).toEqual(before);
    });
  });

  describe('the test key of a program', () => {
    const UNKNOWN = new Set([401]);

    test('a replaced test key admits no request that begins after the response', async () => {
      const owner = await world.newDeveloper();
      for (let round = 0; round < 3; round += 1) {
        const old = expectStatus(200, await owner.portal.replaceTestKey(owner.program.id)).body.test_key;
        let isReplaced = false;
        const late: number[] = [];
        const use = async (gateway: HttpClient) => {
          const partner = createPartner(gateway, old);
          for (let left = 10; left > 0; left -= isReplaced ? 1 : 0) {
            const isLate = isReplaced;
            const { status } = await partner.listChallenges('a');
            if (isLate) late.push(status);
          }
        };
        const users = Promise.all([...gateways, ...gateways, ...gateways].map(use));
        await createPartner(world.http, old).listChallenges('a');
        expectStatus(200, await owner.portal.replaceTestKey(owner.program.id));
        isReplaced = true;
        await users;
        expect(late.length).toBeGreaterThanOrEqual(60 - 6);
        expect(new Set(late)).toEqual(UNKNOWN);
      }
    });
  });

  describe('programs and developers that the operator creates', () => {
    const create = (body: object) => world.operator.send<ProgramBody>('POST', '/programs', { body });

    test('a developer’s program cannot be created while the webhook service is down', async () => {
      const owner = await world.newDeveloper();
      expect(await world.stack.stop('webhook')).toBe(0);
      const before = await world.digest();
      for (const gateway of gateways) {
        const headers = { authorization: `Bearer ${world.stack.operatorToken}` };
        const body = { name: 'Arena', developer_id: owner.id };
        const answer = await gateway.send('POST', '/api/operator/programs', { headers, body });
        expectError(500, 'internal_error', answer);
      }
      expectError(404, 'not_found', await create({ name: 'Arena', developer_id: randomUUID() }));
      expect(await world.digest()).toEqual(before);

      // The rest of the portal, and programs without a developer, do not need the webhook service.
      expect(expectStatus(200, await owner.portal.listPrograms()).body.data).toHaveLength(1);
      expectStatus(200, await owner.portal.replaceTestKey(owner.program.id));
      expectStatus(201, await create({ name: 'Arena' }));
      for (const route of PORTAL_ROUTES.filter(({ path }) => /endpoint|deliver/.test(path))) {
        const path = pathOf(route, randomUUID());
        expectError(
          500,
          'internal_error',
          await owner.portal.send(route.method, path, route.body && { body: route.body }),
        );
      }

      await world.stack.restart('webhook');
      const made = await eventually(async () => {
        const answer = await create({ name: 'Arena', developer_id: owner.id });
        return answer.status === 500 ? undefined : expectStatus(201, answer).body;
      }, 'the gateway speaks to the webhook service again');
      const listed = expectStatus(200, await owner.portal.listPrograms()).body.data;
      expect(listed.map(({ id }) => id)).toEqual([made.id, owner.program.id]);
    });
  });

  test('a developer’s program works like any other program', async () => {
    const { program } = developer;
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    expectStatus(201, await program.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
    await world.expectAuditOk();
  });
});
