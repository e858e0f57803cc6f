import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import {
  type Answer,
  type Credentials,
  createHttpClient,
  createPortal,
  type HttpClient,
  type SendOptions,
  signIn,
} from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Developer, expectError, expectStatus, startWorld, type World } from '../world.ts';
import { isUnsafe, PORTAL_ROUTES, pathOf, resourceOf } from './routes.ts';

/** For one e-mail from one client. */
const FAILURES = 5;
const FAILURES_PER_EMAIL = 20;
/** Lower than by default, because each failure costs a password's hash. */
const FAILURES_PER_ADDRESS = 50;
/** Longer than by default, so that none is over before the test has checked it. */
const FIRST_DELAY_SECONDS = 30;

interface LimiterBody {
  error: string;
  retry_after: number;
  limit: number;
  reset_at: string;
}

describe('sessions of the developer portal', () => {
  let world: World;
  let developer: Developer;
  /** One client per gateway. */
  let gateways: HttpClient[];
  beforeAll(async () => {
    world = await startWorld({
      replicas: { gateway: 2 },
      environment: {
        gateway: {
          PORTAL_SIGN_IN_FAILURES_PER_ADDRESS: String(FAILURES_PER_ADDRESS),
          PORTAL_SIGN_IN_FIRST_DELAY_SECONDS: String(FIRST_DELAY_SECONDS),
        },
      },
    });
    gateways = world.stack.baseUrls.map((baseUrl) => createHttpClient({ baseUrl, onAnswer: world.contract.check }));
    developer = await world.newDeveloper();
  });
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway[Symbol.asyncDispose]()));
    await world?.[Symbol.asyncDispose]();
  });

  /** Backdates every failed sign-in by a quarter of an hour. */
  const forget = () =>
    world.stack.database('gateway').query(`update sign_in_failures set failed_at = failed_at - interval '15 minutes'`);
  beforeEach(forget);

  const at = (replica: number): HttpClient => gateways[replica] ?? expect.fail(`there is no gateway ${replica}`);
  const portal = (method: string, path: string, options?: SendOptions) =>
    world.http.send(method, `/api/portal${path}`, options);
  const cookieOf = (token: string) => ({ cookie: `laurel_session=${token}` });
  const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` });
  /** Signs in with these credentials; accepts a developer, who has more fields. */
  const enter = (http: HttpClient, { email, password }: Credentials) => signIn(http, { email, password });
  const newSession = async (credentials: Credentials = developer) =>
    expectStatus(201, await enter(world.http, credentials)).body.token;

  /** The statuses that the session gets, at every gateway, as bearer and as cookie. */
  async function statusesOf(token: string): Promise<Set<number>> {
    const answers = await Promise.all(
      gateways.flatMap((gateway) =>
        [bearerOf(token), cookieOf(token)].map((headers) => gateway.send('GET', '/api/portal/programs', { headers })),
      ),
    );
    return new Set(answers.map(({ status }) => status));
  }

  /** Everything that does not identify the single request. */
  function shape(answer: Answer<unknown>): object {
    const { 'x-request-id': _requestId, date: _date, ...headers } = answer.headers;
    return { status: answer.status, text: answer.text, headers };
  }

  describe('the start of a portal session', () => {
    test('a portal session’s token works at every gateway, as a bearer and as a cookie that no script can read', async () => {
      const answer = await enter(world.http, { ...developer, email: developer.email.toUpperCase() });
      const { token } = expectStatus(201, answer).body;
      expect(answer.body).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/) });
      const [cookie, ...attributes] = answer.headers['set-cookie']?.split('; ') ?? [];
      expect(cookie).toBe(`laurel_session=${token}`);
      // This stack is plain HTTP: `programs.test.ts` checks the cookie of one with a secure cookie.
      expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/api/portal', 'SameSite=Strict']);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(await statusesOf(token)).toEqual(new Set([200]));
    });

    test('every sign-in to the portal starts a new session', async () => {
      const tokens = await Promise.all(Array.from({ length: 5 }, () => newSession()));
      expect(new Set(tokens).size).toBe(5);
      for (const token of tokens) expect(await statusesOf(token)).toEqual(new Set([200]));
    });

    test('a password matches in any Unicode normalization, and in no other spelling', async () => {
      const email = `${randomUUID()}@example.com`;
      const password = 'Höhle der Löwen № 1';
      expectStatus(201, await world.operator.createDeveloper({ email, password: password.normalize('NFC') }));
      expectStatus(201, await enter(world.http, { email, password: password.normalize('NFD') }));
      expectStatus(201, await enter(world.http, { email: email.toUpperCase(), password }));
      for (const other of ['Hohle der Lowen № 1', password.toLowerCase(), ` ${password}`, password.slice(0, -1)]) {
        expectStatus(401, await enter(world.http, { email, password: other }));
      }
    });

    test('sign-in answers the same 401 to a wrong password and to an unknown e-mail', async () => {
      const { email, password } = developer;
      const answers: Answer<unknown>[] = [];
      for (const credentials of [
        { email, password: 'wrong' },
        { email, password: '' },
        { email, password: `${password} ` },
        { email, password: password.toUpperCase() },
        { email, password: 'x'.repeat(1_000) },
        { email: `${randomUUID()}@example.com`, password },
        { email: `${randomUUID()}@example.com`, password: '' },
        { email: `${world.program.id}@example.com`, password: world.stack.operatorToken },
      ]) {
        answers.push(await enter(world.http, credentials));
      }
      const [first] = answers;
      expect(first?.body).toEqual({ error: { code: 'unauthorized', message: expect.stringMatching(/\S/) } });
      expect(first?.headers['set-cookie']).toBeUndefined();
      for (const answer of answers) expect(shape(answer)).toEqual(shape(first as Answer<unknown>));
    });
  });

  describe('portal routes that need a session', () => {
    test('every portal route, known or not, answers the same 401 to every invalid session', async () => {
      const signedOut = await newSession();
      expectStatus(204, await createPortal(world.http, signedOut).signOut());
      const { token } = developer.portal;
      const flipped = (position: number) =>
        `${token.slice(0, position)}${token[position] === 'a' ? 'b' : 'a'}${token.slice(position + 1)}`;
      const reference = await portal('GET', '/programs');
      expect(reference.body).toEqual({ error: { code: 'unauthorized', message: expect.stringMatching(/\S/) } });
      const causes: Record<string, string>[] = [
        {},
        ...[
          '',
          'Bearer',
          'Bearer ',
          'Bearer nonsense',
          `Basic ${token}`,
          token,
          `Bearer ${token} ${token}`,
          `Bearer ${token}, Bearer ${token}`,
        ].map((authorization) => ({ authorization })),
        ...[
          randomBytes(32).toString('base64url'),
          flipped(0),
          flipped(42),
          `${token}a`,
          token.slice(0, -1),
          token.toUpperCase(),
          signedOut,
          'x'.repeat(10_000),
          "' or '1'='1",
          world.stack.operatorToken,
          developer.program.test.apiKey,
          developer.program.live.apiKey,
          developer.id,
        ].flatMap((foreign) => [bearerOf(foreign), cookieOf(foreign)]),
        { cookie: 'laurel_session' },
        { cookie: `other=${token}` },
        { cookie: `LAUREL_SESSION=${token}` },
        { 'x-api-key': token },
        { 'x-api-key': developer.program.test.apiKey },
        // The bearer counts, even beside a valid cookie.
        { ...bearerOf('nonsense'), ...cookieOf(token) },
      ];
      for (const headers of causes) {
        const answer = await portal('GET', '/programs', { headers });
        expect(shape(answer), JSON.stringify(headers).slice(0, 200)).toEqual(shape(reference));
      }
      const unknown = [
        { method: 'GET', path: '/nowhere' },
        { method: 'PUT', path: '/programs' },
        { method: 'GET', path: '/session' },
        { method: 'OPTIONS', path: '/programs' },
        { method: 'GET', path: '/webhook-endpoints/%E0%A4%A' },
      ];
      for (const { method, path } of [...PORTAL_ROUTES, ...unknown]) {
        const answer = await portal(method, path.replace(/\{\w+\}/, randomUUID()), { headers: bearerOf(signedOut) });
        expect(shape(answer), `${method} ${path}`).toEqual(shape(reference));
      }
      const inQuery = await portal('GET', `/programs?token=${token}&laurel_session=${token}`);
      expect(shape(inQuery)).toEqual(shape(reference));
    });

    test('a portal session is accepted with any case of the scheme, and as a cookie among others', async () => {
      const { token } = developer.portal;
      for (const headers of [
        { authorization: `bearer ${token}` },
        { authorization: `BEARER   ${token}` },
        { cookie: `a=b; laurel_session=${token}; c=d` },
        { cookie: `laurel_session=${token}`, authorization: 'Basic eDp5' },
      ]) {
        expectStatus(200, await portal('GET', '/programs', { headers }));
      }
    });

    test('without a portal session no route changes anything', async () => {
      const before = await world.digest();
      for (const route of PORTAL_ROUTES) {
        const path = pathOf(route, developer.program.id);
        expectStatus(401, await portal(route.method, path, route.body && { body: route.body }));
      }
      expect(await world.digest()).toEqual(before);
    });
  });

  describe('the end of a portal session', () => {
    test('a sign-out ends the session at every gateway immediately, and no other session', async () => {
      for (const headersOf of [bearerOf, cookieOf]) {
        const [token, other] = [await newSession(), await newSession()];
        expect(await statusesOf(token)).toEqual(new Set([200]));
        // As a page of the portal sends it.
        const headers = { ...headersOf(token), 'sec-fetch-site': 'same-origin' };
        const out = expectStatus(204, await portal('DELETE', '/session', { headers }));
        expect(out.text).toBe('');
        expect(out.headers['set-cookie']).toMatch(/^laurel_session=; Max-Age=0; Path=\/api\/portal; HttpOnly/);
        expect(await statusesOf(token)).toEqual(new Set([401]));
        expectStatus(401, await portal('DELETE', '/session', { headers }));
        expect(await statusesOf(other)).toEqual(new Set([200]));
      }
    });

    test('parallel sign-outs of one portal session end it, and it is invalid afterwards', async () => {
      const token = await newSession();
      const calls = Array.from({ length: 20 }, (_, index) =>
        at(index % 2).send('DELETE', '/api/portal/session', { headers: bearerOf(token) }),
      );
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses).toContain(204);
      expect(new Set([...statuses, 204, 401])).toEqual(new Set([204, 401]));
      expect(await statusesOf(token)).toEqual(new Set([401]));
    });

    test('a portal session ends after 12 hours', async () => {
      const owner = await world.newDeveloper();
      const { token } = owner.portal;
      const grow = (by: string) =>
        world.stack
          .database('gateway')
          .query(
            'update sessions set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval where developer_id = $1',
            [owner.id, by],
          );
      await grow('11 hours 59 minutes');
      expect(await statusesOf(token)).toEqual(new Set([200]));
      await grow('1 minute');
      expect(await statusesOf(token)).toEqual(new Set([401]));
      expect(await statusesOf(await newSession(owner))).toEqual(new Set([200]));
    });
  });

  describe('a portal session in a cookie', () => {
    test('a page of another site can read but change nothing with the cookie; a bearer is not restricted', async () => {
      const { token } = developer.portal;
      const endpoint = expectStatus(
        201,
        await developer.portal.createEndpoint({ url: 'https://127.0.0.1:9443/' }),
      ).body;
      const ids = { program: developer.program.id, endpoint: endpoint.id, delivery: randomUUID() };
      const before = await world.digest();
      for (const site of ['cross-site', 'same-site']) {
        for (const route of PORTAL_ROUTES) {
          const resource = resourceOf(route);
          const path = pathOf(route, resource === undefined ? '' : ids[resource]);
          const headers = { ...cookieOf(token), 'sec-fetch-site': site };
          const answer = await portal(route.method, path, { headers, ...(route.body && { body: route.body }) });
          if (isUnsafe(route)) expectError(403, 'forbidden', answer);
          else expectStatus(200, answer);
        }
        expectError(
          403,
          'forbidden',
          await portal('POST', '/nowhere', { headers: { ...cookieOf(token), 'sec-fetch-site': site } }),
        );
      }
      expect(await world.digest()).toEqual(before);

      const change = (headers: Record<string, string>) =>
        portal('PATCH', `/webhook-endpoints/${endpoint.id}`, { headers, body: { description: randomUUID() } });
      for (const site of ['cross-site', 'same-site', 'same-origin', 'none']) {
        expectStatus(200, await change({ ...bearerOf(token), 'sec-fetch-site': site }));
      }
      expectStatus(200, await change({ ...cookieOf(token), 'sec-fetch-site': 'same-origin' }));
      const headers = { ...cookieOf(token), origin: world.stack.baseUrl };
      const body = { description: randomUUID() };
      expectStatus(200, await at(0).send('PATCH', `/api/portal/webhook-endpoints/${endpoint.id}`, { headers, body }));
      // What shows no page of this origin changes nothing: an address that was typed, a program, another origin.
      for (const headers of [
        { 'sec-fetch-site': 'none' },
        {},
        { origin: 'https://evil.example' },
        { origin: 'null' },
      ]) {
        expectError(403, 'forbidden', await change({ ...cookieOf(token), ...headers }));
      }
      expectStatus(200, await change(bearerOf(token)));
    });

    test('the portal sends no CORS headers to a page of another origin', async () => {
      const preflight = await portal('OPTIONS', '/programs', {
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': 'POST',
          ...cookieOf(developer.portal.token),
        },
      });
      const read = await portal('GET', '/programs', {
        headers: { origin: 'https://evil.example', ...cookieOf(developer.portal.token) },
      });
      for (const answer of [preflight, read]) {
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    });
  });

  describe('the throttle of failed sign-ins', () => {
    function expectLimited(limit: number, answer: Answer<unknown>): void {
      const body = expectStatus(429, answer).body as LimiterBody;
      expect(body).toEqual({
        error: expect.stringMatching(/\S/),
        retry_after: expect.any(Number),
        limit,
        reset_at: expect.stringMatching(/Z$/),
      });
      expect(body.retry_after).toBeGreaterThan(0);
      expect(body.retry_after).toBeLessThanOrEqual(FIRST_DELAY_SECONDS);
      expect(answer.headers['retry-after']).toBe(String(body.retry_after));
      const resetsInMs = Date.parse(body.reset_at) - Date.now();
      expect(Math.abs(resetsInMs - body.retry_after * 1_000)).toBeLessThan(5_000);
      expect(answer.headers['cache-control']).toBe('no-store');
    }

    test('of 200 parallel wrong passwords over both gateways exactly 5 are checked, whether or not the e-mail exists', async () => {
      const owner = await world.newDeveloper();
      const other = await world.newDeveloper();
      for (const email of [owner.email, `${randomUUID()}@example.com`]) {
        const answers = await Promise.all(
          Array.from({ length: 200 }, (_, index) => enter(at(index % 2), { email, password: `wrong ${index}` })),
        );
        const refused = answers.filter(({ status }) => status === 429);
        expect(answers.filter(({ status }) => status === 401)).toHaveLength(FAILURES);
        expect(refused).toHaveLength(200 - FAILURES);
        for (const answer of refused) expectLimited(FAILURES, answer);
      }
      for (const gateway of gateways) {
        // The right password gets no different response, in any case of the e-mail, and an open session still works.
        expectLimited(FAILURES, await enter(gateway, owner));
        expectLimited(FAILURES, await enter(gateway, { ...owner, email: owner.email.toUpperCase() }));
        expectStatus(201, await enter(gateway, other));
      }
      expect(await statusesOf(owner.portal.token)).toEqual(new Set([200]));
      await world.stack
        .database('gateway')
        .query(`update sign_in_failures set failed_at = failed_at - interval '30 seconds'`);
      expectStatus(201, await enter(world.http, owner));
    });

    test('guesses of a password, from one client or from many, do not lock its developer out', async () => {
      const owner = await world.newDeveloper();
      const from = (address: string, password: string, index = 0) =>
        signInFrom(address, index, { email: owner.email, password });
      const one = await Promise.all(Array.from({ length: 100 }, (_, index) => from('127.0.0.3', 'guess', index)));
      expect(one.filter((status) => status === 401)).toHaveLength(FAILURES);
      expect(await from('127.0.0.3', owner.password)).toBe(429);
      expect(await from('127.0.0.4', owner.password)).toBe(201);

      const many = await Promise.all(
        Array.from({ length: 60 }, (_, index) => from(`127.0.0.${10 + (index % 30)}`, 'guess', index)),
      );
      expect(many.filter((status) => status === 401)).toHaveLength(FAILURES_PER_EMAIL - FAILURES);
      // From a known client the developer signs in as before; a new client is throttled together with the guessers.
      for (const home of ['127.0.0.1', '127.0.0.4']) {
        for (const replica of [0, 1]) expect(await from(home, owner.password, replica)).toBe(201);
      }
      expect(await from('127.0.0.5', owner.password)).toBe(429);
      expect(await statusesOf(owner.portal.token)).toEqual(new Set([200]));
    });

    test('the throttle is exact when two gateways take the last slot in parallel', async () => {
      const emails = Array.from({ length: 24 }, () => `${randomUUID()}@example.com`);
      const guess = (email: string, replica: number) => enter(at(replica), { email, password: 'wrong' });
      const firsts = await Promise.all(emails.map((email) => guess(email, 0)));
      expect(new Set(firsts.map(({ status }) => status))).toEqual(new Set([401]));
      // One slot is left to each; these count for the pair of e-mail and client alone.
      await world.stack.database('gateway').query(
        `insert into sign_in_failures (id, email_hash, address_hash, from_known_client, failed_at)
         select gen_random_uuid(), email_hash, address_hash, true, failed_at
         from sign_in_failures, generate_series(1, $1) as n
         where failed_at > now() - interval '15 minutes'`,
        [FAILURES - 2],
      );
      const pairs = await Promise.all(
        emails.map(async (email) => {
          const answers = await Promise.all(gateways.map((_, replica) => guess(email, replica)));
          return answers.map(({ status }) => status).sort();
        }),
      );
      expect(pairs).toEqual(emails.map(() => [401, 429]));
    });

    test('only failed sign-ins count towards the throttle: successful ones neither count nor reset it', async () => {
      const owner = await world.newDeveloper();
      for (let failure = 1; failure <= FAILURES; failure += 1) {
        expectStatus(201, await enter(world.http, owner));
        expectStatus(401, await enter(world.http, { ...owner, password: 'wrong' }));
      }
      expectLimited(FAILURES, await enter(world.http, owner));
    });

    test('one client with many e-mails is throttled by the address of its connection, not by a header', async () => {
      const guess = (index: number, headers: Record<string, string> = {}) =>
        signInFrom('127.0.0.2', index, { email: `${randomUUID()}@example.com`, password: 'guess' }, headers);
      const forged = (index: number) => ({
        'x-forwarded-for': `8.8.8.${index}`,
        'x-real-ip': `8.8.8.${index}`,
        forwarded: `for=8.8.8.${index}`,
      });
      const count = FAILURES_PER_ADDRESS + 30;
      const statuses = await Promise.all(Array.from({ length: count }, (_, index) => guess(index, forged(index))));
      expect(statuses.filter((status) => status === 401)).toHaveLength(FAILURES_PER_ADDRESS);
      expect(statuses.filter((status) => status === 429)).toHaveLength(30);
      expect(await signInFrom('127.0.0.2', 0, developer)).toBe(429);
      expectStatus(201, await enter(world.http, developer));
      // A developer who signed in from this address before shares it, and is not throttled.
      await forget();
      expect(await signInFrom('127.0.0.2', 0, developer)).toBe(201);
      await Promise.all(Array.from({ length: FAILURES_PER_ADDRESS }, (_, index) => guess(index)));
      expect(await guess(0)).toBe(429);
      expect(await signInFrom('127.0.0.2', 1, developer)).toBe(201);
    });

    /** Signs in at one of the gateways, from this local address. */
    function signInFrom(
      localAddress: string,
      replica: number,
      { email, password }: Credentials,
      headers: Record<string, string> = {},
    ): Promise<number> {
      const url = `${world.stack.baseUrls[replica % 2]}/api/portal/session`;
      return new Promise((resolve, reject) => {
        const sent = request(url, {
          method: 'POST',
          localAddress,
          headers: { 'content-type': 'application/json', ...headers },
        });
        sent.once('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.once('error', reject);
        sent.end(JSON.stringify({ email, password }));
      });
    }
  });
});
