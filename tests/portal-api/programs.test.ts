import { randomUUID } from 'node:crypto';
import {
  createHttpClient,
  createPartner,
  createPortal,
  type HttpClient,
  type ProgramBody,
  type SendOptions,
  signIn,
} from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Developer, eventually, expectError, expectStatus, startWorld, type World } from '../world.ts';
import { PORTAL_ROUTES, pathOf, type Resource, resourceOf } from './routes.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TEST_KEY = /^sk_test_[0-9A-Za-z]{40,}$/;

describe('programs in the developer portal', () => {
  let world: World;
  let developer: Developer;
  /** One client per gateway. */
  let gateways: HttpClient[];
  beforeAll(async () => {
    world = await startWorld({
      replicas: { gateway: 2 },
      environment: { gateway: { PORTAL_COOKIE_SECURE: 'true' } },
    });
    gateways = world.stack.baseUrls.map((baseUrl) => createHttpClient({ baseUrl, onAnswer: world.contract.check }));
    developer = await world.newDeveloper();
  });
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway[Symbol.asyncDispose]()));
    await world?.[Symbol.asyncDispose]();
  });

  test('the portal’s cookie is Secure, unless the gateway is configured otherwise', async () => {
    const { email, password } = await world.newDeveloper();
    const answer = expectStatus(201, await signIn(world.http, { email, password }));
    expect(answer.headers['set-cookie']).toMatch(/; Secure(;|$)/);
  });

  describe('the list of a developer’s programs', () => {
    test('programs are listed to their developer alone, newest first and page by page', async () => {
      const owner = await world.newDeveloper();
      const second = await world.newProgram(owner);
      const draft = expectStatus(201, await world.operator.createProgram('Draft', owner.id)).body;
      const ids = [draft.id, second.id, owner.program.id];
      const all = expectStatus(200, await owner.portal.listPrograms()).body;
      expect(all.data.map(({ id }) => id)).toEqual(ids);
      expect(all.next_cursor).toBeNull();
      expect(all.data[0]).toMatchObject({
        name: 'Draft',
        status: 'draft',
        keys: [
          {
            environment: 'test',
            prefix: expect.stringMatching(/^sk_test_/),
            last4: draft.test_key.slice(-4),
            created_at: expect.stringMatching(TIMESTAMP),
            last_used_at: null,
          },
        ],
      });
      expect(all.data[1]).toMatchObject({
        status: 'approved',
        keys: [{ environment: 'test' }, { environment: 'live' }],
      });

      const paged: string[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? '' : `&cursor=${cursor}`;
        const answer = await owner.portal.send<{ data: ProgramBody[]; next_cursor: string | null }>(
          'GET',
          `/programs?limit=1${query}`,
        );
        const page = expectStatus(200, answer).body;
        expect(page.data).toHaveLength(1);
        paged.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(paged).toEqual(ids);
      const others = expectStatus(200, await developer.portal.listPrograms()).body.data.map(({ id }) => id);
      expect(others).toEqual([developer.program.id]);
    });

    test.each([
      'limit=0',
      'limit=201',
      'limit=-1',
      'limit=1.5',
      'limit=',
      'limit=all',
      'limit=1&limit=2',
      'cursor=',
      'cursor=nonsense',
      'cursor=%00',
      `cursor=${'a'.repeat(256)}`,
      `cursor=${randomUUID()}&cursor=${randomUUID()}`,
    ])('the list of programs refuses %s', async (query) => {
      const answer = await developer.portal.send('GET', `/programs?${query}`);
      expectError(400, 'invalid_request', answer);
    });
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

    test('another developer’s resources are 404 on every portal route, like unknown ones, and do not change', async () => {
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

      // The same requests succeed for their developer, in upper case too.
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

    test.each([
      ['OPTIONS', '/programs'],
      ['PUT', '/programs'],
      ['POST', '/programs'],
      ['GET', `/programs/${randomUUID()}`],
      ['GET', `/programs/${randomUUID()}/test-key`],
      ['PUT', `/webhook-endpoints/${randomUUID()}`],
      ['POST', `/webhook-endpoints/${randomUUID()}`],
      ['GET', `/deliveries/${randomUUID()}`],
      ['GET', `/deliveries/${randomUUID()}/resend`],
      ['GET', '/session'],
      ['GET', '/'],
      ['GET', '/nowhere'],
      ['POST', '/webhook-endpoints/rotate-secret'],
    ])('the portal has no route %s %s', async (method, path) => {
      expectError(404, 'not_found', await developer.portal.send(method, path));
    });

    test('no route of our own answers OPTIONS', async () => {
      const operator = { authorization: `Bearer ${world.stack.operatorToken}` };
      for (const path of ['/programs', '/developers', '/nowhere']) {
        const answer = await world.http.send('OPTIONS', `/api/operator${path}`, { headers: operator });
        expectError(404, 'not_found', answer);
      }
      expectError(404, 'not_found', await developer.program.test.send('OPTIONS', '/api/sandbox/players'));
      for (const { path } of PORTAL_ROUTES) {
        expectError(404, 'not_found', await developer.portal.send('OPTIONS', path.replace(/\{\w+\}/, randomUUID())));
      }
    });

    test('no token and no API key is accepted by an API that it is not for', async () => {
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
    /** A read, a write that a known key combines with its admission, and the sandbox, at every gateway. */
    async function statusesOf(apiKey: string): Promise<Set<number>> {
      const answers = await Promise.all(
        gateways.flatMap((gateway) => {
          const partner = createPartner(gateway, apiKey);
          return [
            partner.listChallenges('a'),
            partner.createAttempt({ challenge_id: randomUUID(), player_ref: 'a' }),
            partner.expireAttempt(randomUUID()),
          ];
        }),
      );
      return new Set(answers.map(({ status }) => status));
    }
    const WORKS = new Set([200, 404]);
    const UNKNOWN = new Set([401]);
    const keysOf = async (owner: Developer, programId: string) => {
      const programs = expectStatus(200, await owner.portal.listPrograms()).body.data;
      return programs.find(({ id }) => id === programId)?.keys ?? [];
    };

    test('a replaced test key stops immediately at every gateway, and the live key keeps working', async () => {
      const owner = await world.newDeveloper();
      const { id, test: sandbox, live } = owner.program;
      expect(await statusesOf(sandbox.apiKey)).toEqual(WORKS);
      expectStatus(200, await live.listChallenges('a'));
      const replaced = expectStatus(200, await owner.portal.replaceTestKey(id));
      expect(replaced.body).toEqual({ test_key: expect.stringMatching(TEST_KEY) });
      expect(replaced.headers['cache-control']).toBe('no-store');
      const { test_key } = replaced.body;
      expect(test_key).not.toBe(sandbox.apiKey);
      expect(await statusesOf(sandbox.apiKey)).toEqual(UNKNOWN);
      expect(await statusesOf(test_key)).toEqual(WORKS);
      expectStatus(200, await live.listChallenges('a'));
      expectStatus(200, await live.listChallenges('a'));
      const keys = await keysOf(owner, id);
      expect(keys.map(({ environment, last4 }) => [environment, last4])).toEqual(
        expect.arrayContaining([
          ['test', test_key.slice(-4)],
          ['live', live.apiKey.slice(-4)],
        ]),
      );
      expect(keys).toHaveLength(2);
    });

    test('a test key that is replaced while in use admits no request that begins after the response', async () => {
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

    test('a program has one test key after 20 parallel replacements', async () => {
      const owner = await world.newDeveloper();
      const { id, test: sandbox, live } = owner.program;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          createPortal(gateways[index % 2] as HttpClient, owner.portal.token).replaceTestKey(id),
        ),
      );
      const made = answers.map((answer) => expectStatus(200, answer).body.test_key);
      expect(new Set(made).size).toBe(20);
      const statuses = await Promise.all([sandbox.apiKey, ...made].map(statusesOf));
      expect(statuses.filter((seen) => seen.has(200))).toHaveLength(1);
      expect(statuses.filter((seen) => seen.has(401))).toHaveLength(20);
      const working = made.find((_, index) => statuses[index + 1]?.has(200)) ?? '';
      expect((await keysOf(owner, id)).map(({ last4 }) => last4).sort()).toEqual(
        [working.slice(-4), live.apiKey.slice(-4)].sort(),
      );
    });

    test('the test key of a suspended program can be replaced, and works once the program is approved', async () => {
      const owner = await world.newDeveloper();
      const { id } = owner.program;
      expectStatus(200, await world.operator.updateProgram(id, { status: 'suspended' }));
      expect(expectStatus(200, await owner.portal.listPrograms()).body.data[0]?.status).toBe('suspended');
      const { test_key } = expectStatus(200, await owner.portal.replaceTestKey(id)).body;
      expect(await statusesOf(test_key)).toEqual(UNKNOWN);
      expectStatus(200, await world.operator.updateProgram(id, { status: 'approved' }));
      expect(await statusesOf(test_key)).toEqual(WORKS);
    });
  });

  describe('programs and developers that the operator makes', () => {
    const create = (body: object) => world.operator.send<ProgramBody>('POST', '/programs', { body });

    test('a developer’s program is not made while the webhook service is down, and is once it is back', async () => {
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

  test('a developer’s program works as any other program', async () => {
    const { program } = developer;
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    expectStatus(201, await program.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
    await world.expectAuditOk();
  });
});
