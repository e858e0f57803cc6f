/** The responses of a partner's server, and their effect on the delivery: three sends in all, 1 s and 2 s after a failure here. */
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import type { DeliveryBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Developer,
  eventually,
  expectStatus,
  type Hook,
  type HookOptions,
  startWorld,
  type World,
} from '../world.ts';
import { TIMESTAMP } from './expect-request.ts';
import { playAttempt } from './play.ts';

const TIMEOUT_MS = 1_000;
const DELAYS_MS = [1_000, 2_000] as const;
/** The difference that rounding two clocks may cause. */
const ROUNDING_MS = 5;
/** A sweep, and the scheduling delays of a busy machine. */
const LATE_MS = 3_000;

let world: World;
/** The target of redirects. */
let trap: Hook;
beforeAll(async () => {
  world = await startWorld({ environment: { webhook: { WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS) } } });
  trap = await world.newReceiver(await world.newDeveloper());
});
afterAll(() => world?.[Symbol.asyncDispose]());

type Kind = { readonly error_kind: string; readonly http_status?: number };

/** Three sends with the same id and the same bytes, each with its delay after the failure of the one before, and each in the log. */
function expectThreeFailures(hook: Hook, delivery: DeliveryBody, { error_kind, http_status }: Kind): void {
  expect(delivery).toEqual({
    id: delivery.id,
    event: 'attempt.settled',
    status: 'failed',
    created_at: expect.stringMatching(TIMESTAMP),
    next_attempt_at: null,
    attempts: [1, 2, 3].map((number) => ({
      number,
      started_at: expect.stringMatching(TIMESTAMP),
      duration_ms: expect.any(Number),
      http_status: http_status ?? null,
      error_kind,
      // A sentence without addresses and ports.
      error: expect.stringMatching(/^[A-Z][A-Za-z0-9 ,;/.-]+\.$/),
      response_excerpt: http_status === undefined ? null : expect.any(String),
    })),
  });
  for (const [index, delay] of DELAYS_MS.entries()) {
    const [failed, next] = delivery.attempts.slice(index, index + 2);
    if (failed === undefined || next === undefined) throw new Error('an attempt is missing');
    const gap = Date.parse(next.started_at) - Date.parse(failed.started_at) - (failed.duration_ms ?? 0);
    expect(gap).toBeGreaterThanOrEqual(delay - ROUNDING_MS);
    expect(gap).toBeLessThan(delay + LATE_MS);
  }
  const [first, ...others] = hook.requests();
  for (const other of others) {
    expect([other.deliveryId, other.body.toString()]).toEqual([delivery.id, first?.body.toString()]);
  }
}

describe('the response to a webhook', () => {
  type Failure = readonly [string, HookOptions, Kind];

  const SUCCESSES: readonly (readonly [string, HookOptions])[] = [
    ['200', {}],
    ['201', { answer: { status: 201, body: 'created' } }],
    ['202', { answer: { status: 202 } }],
    ['204', { answer: { status: 204 } }],
    ['299', { answer: { status: 299 } }],
    ['200 whose body never ends', { answer: { status: 200, body: 'half', isEndless: true } }],
  ];
  const redirect = (status: number): Failure => [
    `${status} with a Location`,
    { answer: () => ({ status, headers: { location: trap.endpoint.url } }) },
    { error_kind: 'http_3xx', http_status: status },
  ];
  const refusal = (status: number): Failure => [
    String(status),
    { answer: { status, headers: { 'retry-after': '86400' }, body: 'no' } },
    { error_kind: 'http_4xx', http_status: status },
  ];
  const FAILURES: readonly Failure[] = [
    ...[301, 302, 303, 307, 308].map(redirect),
    ['304', { answer: { status: 304 } }, { error_kind: 'http_3xx', http_status: 304 }],
    ...[400, 404, 410, 429].map(refusal),
    ['500', { answer: { status: 500, body: 'no' } }, { error_kind: 'http_5xx', http_status: 500 }],
    [
      '503 whose body never ends',
      { answer: { status: 503, isEndless: true, body: 'half' } },
      { error_kind: 'http_5xx', http_status: 503 },
    ],
    ['a connection that is reset', { answer: 'reset' }, { error_kind: 'protocol' }],
    ['nothing at all', { answer: 'never' }, { error_kind: 'timeout' }],
  ];

  const hooks = new Map<string, Hook>();
  let developer: Developer;
  let attempt: string;
  beforeAll(async () => {
    developer = await world.newDeveloper();
    for (const [name, options] of [...SUCCESSES, ...FAILURES]) {
      hooks.set(name, await world.newReceiver(developer, options));
    }
    attempt = await playAttempt(world, developer);
  });

  test.each(SUCCESSES)('a webhook answered with %s is delivered', async (name) => {
    const hook = hooks.get(name) ?? expect.fail(name);
    const request = await hook.event('attempt.settled', attempt);
    const delivery = await hook.delivery(request.deliveryId);
    expect(delivery).toMatchObject({ status: 'delivered', next_attempt_at: null });
    expect(delivery.attempts).toMatchObject([{ number: 1, error_kind: null, error: null }]);
    expect(hook.requests()).toHaveLength(1);
  });

  test.each(FAILURES)('a webhook answered with %s fails, three times', async (name, _options, kind) => {
    const hook = hooks.get(name) ?? expect.fail(name);
    const request = await hook.event('attempt.settled', attempt);
    expectThreeFailures(hook, await hook.delivery(request.deliveryId), kind);
    expect(hook.requests()).toHaveLength(3);
  });

  test('a redirect of a webhook is not followed', () => {
    expect(trap.receiver.connections()).toBe(0);
  });

  test('failing responses do not switch an endpoint off: the next event arrives everywhere without a delay', async () => {
    const all = [...hooks.values()];
    for (const { receiver } of all) receiver.answerWith({ status: 200 });
    const next = await playAttempt(world, developer);
    await Promise.all(
      all.map(async (hook) => {
        const { deliveryId } = await hook.event('attempt.settled', next);
        expect(await hook.delivery(deliveryId)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] });
        expect(hook.sendsOf(deliveryId)).toHaveLength(1);
        const current = expectStatus(200, await developer.portal.getEndpoint(hook.endpoint.id)).body;
        expect(current).toEqual(hook.endpoint);
      }),
    );
  });
});

describe('connections of webhooks', () => {
  const CONNECTION_FAILURES: readonly (readonly [string, () => Promise<HookOptions>, string, string])[] = [
    [
      'to a server whose certificate is not trusted',
      async () => ({ server: { ca: await createCertificateAuthority() } }),
      'tls',
      'The certificate is not signed by a trusted authority.',
    ],
    [
      'to a server whose certificate is for another name',
      async () => ({ server: { names: ['hooks.example'] } }),
      'tls',
      'The certificate is for another host name.',
    ],
    [
      'to a server whose certificate has expired',
      async () => ({ server: { notAfter: new Date(Date.now() - 3_600_000) } }),
      'tls',
      'The certificate has expired.',
    ],
    ['to a closed port', async () => ({}), 'connect', 'No connection could be made.'],
  ];

  const hooks = new Map<string, Hook>();
  let developer: Developer;
  beforeAll(async () => {
    developer = await world.newDeveloper();
    for (const [name, optionsOf] of CONNECTION_FAILURES)
      hooks.set(name, await world.newReceiver(developer, await optionsOf()));
    await hooks.get('to a closed port')?.receiver[Symbol.asyncDispose]();
    await playAttempt(world, developer);
  });

  test.each(CONNECTION_FAILURES)('a connection %s fails three times', async (name, _optionsOf, error_kind, error) => {
    const hook = hooks.get(name) ?? expect.fail(name);
    const logged = await eventually(async () => (await hook.log())[0], 'the event is in the log');
    const delivery = await hook.delivery(logged.id);
    expectThreeFailures(hook, delivery, { error_kind });
    expect(delivery.attempts.map((attempt) => attempt.error)).toEqual([error, error, error]);
    expect(hook.requests()).toEqual([]);
  });
});
