import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { type Credentials, createHttpClient, type HttpClient, signIn } from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Developer, expectStatus, startWorld, type World } from '../world.ts';

/** The limit for one e-mail from one client. */
const FAILURES = 5;
const FAILURES_PER_EMAIL = 20;
/** Lower than the default, because each failure costs a password's hash. */
const FAILURES_PER_ADDRESS = 50;
/** Longer than the default, so that no delay is over before the test has checked it. */
const FIRST_DELAY_SECONDS = 30;

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

  const cookieOf = (token: string) => ({ cookie: `laurel_session=${token}` });
  const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` });
  /** Signs in with these credentials; accepts a developer, who has more fields. */
  const enter = (http: HttpClient, { email, password }: Credentials) => signIn(http, { email, password });
  /** The statuses that the session gets, at every gateway, as bearer and as cookie. */
  async function statusesOf(token: string): Promise<Set<number>> {
    const answers = await Promise.all(
      gateways.flatMap((gateway) =>
        [bearerOf(token), cookieOf(token)].map((headers) => gateway.send('GET', '/api/portal/programs', { headers })),
      ),
    );
    return new Set(answers.map(({ status }) => status));
  }

  describe('the start of a portal session', () => {
    test('a portal session’s token works at every gateway, as a bearer and as a cookie', async () => {
      const answer = await enter(world.http, { ...developer, email: developer.email.toUpperCase() });
      const { token } = expectStatus(201, answer).body;
      expect(answer.body).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/) });
      const [cookie, ...attributes] = answer.headers['set-cookie']?.split('; ') ?? [];
      expect(cookie).toBe(`laurel_session=${token}`);
      // This stack is plain HTTP: services/gateway/src/routes/portal.test.ts checks a cookie that
      // is Secure.
      expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/api/portal', 'SameSite=Strict']);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(await statusesOf(token)).toEqual(new Set([200]));
    });
  });

  describe('the throttle of failed sign-ins', () => {
    test('wrong passwords from any client do not lock the developer out', async () => {
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
      // A known client signs in as before; a new client is throttled together with the guessers.
      for (const home of ['127.0.0.1', '127.0.0.4']) {
        for (const replica of [0, 1]) expect(await from(home, owner.password, replica)).toBe(201);
      }
      expect(await from('127.0.0.5', owner.password)).toBe(429);
      expect(await statusesOf(owner.portal.token)).toEqual(new Set([200]));
    });

    test('failed sign-ins are throttled by the address of the connection, not by a header', async () => {
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
      // A developer who has signed in from this address before is not throttled, although guessers
      // share the address.
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
