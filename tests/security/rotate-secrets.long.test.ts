/**
 * Configured keys are replaced while the stack runs, one replica after the other, in the steps of
 * docs/operations/rotate-secrets.md: what the old key made works at every step, and after the old
 * key is gone.
 * KEY_PEPPER: rotate-pepper.long.test.ts. The seed that signs receipts:
 * tests/money/signing-keys.long.test.ts. A partner's API key: tests/operator-api/live-key.test.ts.
 */
import { randomBytes } from 'node:crypto';
import type { Integration } from '@laurel/sdk';
import { createIntegrations, createOperator, push, type Receiver, type Service, startReceiver } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTarget, type Target } from '../integrations/target.ts';
import { expectSignedWith } from '../webhooks/expect-request.ts';
import { type Developer, eventually, expectStatus, type Hook, startWorld, type World } from '../world.ts';
import { rollOut } from './roll-out.ts';

const REPLICAS = 2;
const webhook = { service: 'webhook', count: REPLICAS } as const;
const integration = { service: 'integration', count: REPLICAS } as const;
/** The worker that encrypts again runs every half minute. */
const WORKER_MS = 60_000;
const TIMEOUT_MS = 240_000;

const newKey = () => randomBytes(32).toString('base64');
const keys = {
  webhook: { first: newKey(), second: newKey(), third: newKey() },
  integration: { first: newKey(), second: newKey(), third: newKey() },
};

let world: World;
beforeAll(async () => {
  world = await startWorld({
    replicas: { webhook: REPLICAS, integration: REPLICAS },
    environment: {
      // Retries come late, so that the number of a delivery's sends shows what it needed.
      webhook: { WEBHOOK_SECRET_KEY: keys.webhook.first, WEBHOOK_RETRY_DELAYS_SECONDS: '60,300' },
      integration: { INTEGRATION_SECRET_KEY: keys.integration.first },
    },
  });
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The values of a metric at one replica, by its label. */
async function metricOf(service: Service, replica: number, name: string): Promise<Record<string, number>> {
  const answer = await fetch(`${world.stack.adminUrls(service)[replica]}/metrics`, {
    headers: { connection: 'close' },
  });
  const lines = (await answer.text()).matchAll(new RegExp(`^${name}\\{.*?version="(\\d+)".*?\\} (\\d+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, version, count]) => [version, Number(count)]));
}

/**
 * Resolves when no replica counts anything under this version any more, and each counts something.
 */
async function noneUnder(version: number, service: Service, metric: string): Promise<void> {
  for (let replica = 0; replica < REPLICAS; replica++) {
    await eventually(
      async () => {
        const counts = await metricOf(service, replica, metric);
        return Object.keys(counts).length > 0 && counts[version] === undefined ? true : undefined;
      },
      `replica ${replica} of ${service} counts none under version ${version}`,
      WORKER_MS,
    );
  }
}

describe('WEBHOOK_SECRET_KEY', () => {
  let developer: Developer;
  let hook: Hook;
  beforeAll(async () => {
    developer = await world.newDeveloper();
    hook = await world.newReceiver(developer);
  });

  /** Sends a test event; again if the replica that was called has just ended. */
  const sendTest = ({ endpoint }: Hook) =>
    eventually(async () => {
      const answer = await developer.portal.sendTest(endpoint.id);
      return answer.status === 202 ? answer.body.delivery_id : undefined;
    }, 'a test event is accepted');

  async function expectDelivered(of: Hook, deliveryId: string): Promise<void> {
    await expectSignedWith(of.secret, await of.find((request) => request.deliveryId === deliveryId));
    expect(await of.delivery(deliveryId)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] });
  }
  const delivers = async () => expectDelivered(hook, await sendTest(hook));
  const { first, second, third } = keys.webhook;

  test(
    'an endpoint gets events signed with its own secret at every step of a key rotation',
    async () => {
      await delivers();
      await rollOut(world, webhook, { WEBHOOK_SECRET_KEYS_ACCEPTED: `2:${second}` }, delivers);
      const current = { WEBHOOK_SECRET_KEY: second, WEBHOOK_SECRET_KEY_VERSION: '2' };
      const made: Hook[] = [];
      await rollOut(world, webhook, { ...current, WEBHOOK_SECRET_KEYS_ACCEPTED: `1:${first}` }, async () => {
        await delivers();
        // Both replicas can read the secret, whichever stored it.
        made.push(
          await eventually(() => world.newReceiver(developer).catch(() => undefined), 'an endpoint is registered'),
        );
      });
      for (const one of made) await expectDelivered(one, await sendTest(one));
      await noneUnder(1, 'webhook', 'laurel_encrypted_secrets');
      expect(world.stack.logs('webhook').some((line) => line.includes('stored secrets were encrypted again'))).toBe(
        true,
      );
      await rollOut(world, webhook, { ...current, WEBHOOK_SECRET_KEYS_ACCEPTED: '' }, delivers);
      for (const one of made) await expectDelivered(one, await sendTest(one));
      expect(world.stack.logs('webhook').filter((line) => line.includes('that is not configured'))).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test('a new key under the version of the old key is refused at the start', async () => {
    const started = world.stack.restart('webhook', 0, { WEBHOOK_SECRET_KEY: third });
    await expect(started).rejects.toThrow('no stored secret under version 2 of the key opens');
    await world.stack.restart('webhook', 0, { WEBHOOK_SECRET_KEY: second });
    await delivers();
  });

  test(
    'deliveries wait while the key of their endpoint’s secret is missing',
    async () => {
      const current = { WEBHOOK_SECRET_KEY: third, WEBHOOK_SECRET_KEY_VERSION: '3' };
      await rollOut(world, webhook, { ...current, WEBHOOK_SECRET_KEYS_ACCEPTED: '' });
      const waiting = await sendTest(hook);
      const later = await world.newReceiver(developer);
      await expectDelivered(later, await sendTest(later));
      await eventually(
        async () => world.stack.logs('webhook').some((line) => line.includes('that is not configured')) || undefined,
        'the log warns of the missing key',
      );
      expect(await metricOf('webhook', 0, 'laurel_encrypted_secrets')).toMatchObject({ 2: expect.any(Number) });
      expect(hook.sendsOf(waiting)).toEqual([]);
      expect(await hook.delivery(waiting, () => true)).toMatchObject({ status: 'pending', attempts: [] });

      await rollOut(world, webhook, { ...current, WEBHOOK_SECRET_KEYS_ACCEPTED: `2:${second}` });
      await expectDelivered(hook, waiting);
      await noneUnder(2, 'webhook', 'laurel_encrypted_secrets');
      await rollOut(world, webhook, { ...current, WEBHOOK_SECRET_KEYS_ACCEPTED: '' }, delivers);
    },
    TIMEOUT_MS,
  );
});

describe('INTEGRATION_SECRET_KEY', () => {
  let owner: Developer['program'];
  let target: Target;
  let polled: Integration;
  let source: Receiver;
  const token = newKey();
  const integrations = () => createIntegrations(owner.test);
  beforeAll(async () => {
    const developer = await world.newDeveloper();
    owner = developer.program;
    target = await newTarget(owner.test);
    source = await startReceiver({ ca: world.stack.ca, answer: { body: '[]' } });
    const descriptor = { version: 1, pull: { url: `${source.url}/runs`, auth: { type: 'bearer', token } } };
    const made = await integrations().create({ transport: 'pull_poll', descriptor, pull_interval_seconds: 30 });
    polled = expectStatus(201, made).body;
  });
  afterAll(() => source?.[Symbol.asyncDispose]());

  async function report(): Promise<{ readonly attempt_id: string; readonly score: number }> {
    const challenge = await world.newChallenge({}, owner);
    const player = await world.newPlayer({ partner: owner.test });
    const attempt = await owner.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    return { attempt_id: expectStatus(201, attempt).body.id, score: 100 };
  }
  /**
   * A push under the integration's own secret settles an attempt. A partner repeats a push without
   * a response.
   */
  const settles = async () => {
    const body = await report();
    await eventually(async () => {
      const answer = await push(world.http, target, body);
      return answer.status === 500 ? undefined : expectStatus(200, answer);
    }, 'the push is answered');
    expect(expectStatus(200, await owner.test.getAttempt(body.attempt_id)).body.status).toBe('settled');
  };
  const { first, second, third } = keys.integration;

  test(
    'a push with the old signing secret settles at every step of a key rotation',
    async () => {
      await settles();
      await rollOut(world, integration, { INTEGRATION_SECRET_KEYS_ACCEPTED: `2:${second}` }, settles);
      const current = { INTEGRATION_SECRET_KEY: second, INTEGRATION_SECRET_KEY_VERSION: '2' };
      await rollOut(world, integration, { ...current, INTEGRATION_SECRET_KEYS_ACCEPTED: `1:${first}` }, settles);
      await noneUnder(1, 'integration', 'laurel_encrypted_secrets');
      await rollOut(world, integration, { ...current, INTEGRATION_SECRET_KEYS_ACCEPTED: '' }, settles);
      const wrong = await push(world.http, { ...target, secret: newKey() }, await report());
      expectStatus(401, wrong);

      expect(source.requests).toEqual([]);
      expectStatus(200, await integrations().update(polled.id, { status: 'active' }));
      const { headers } = await source.nth(1);
      expect(headers.authorization).toBe(`Bearer ${token}`);
      expectStatus(200, await integrations().update(polled.id, { status: 'suspended' }));
    },
    TIMEOUT_MS,
  );

  test(
    'a push is 500 while the key of its integration’s secret is missing',
    async () => {
      const current = { INTEGRATION_SECRET_KEY: third, INTEGRATION_SECRET_KEY_VERSION: '3' };
      await rollOut(world, integration, { ...current, INTEGRATION_SECRET_KEYS_ACCEPTED: '' });
      const body = await report();
      // The breaker may be open after the replica's end; it matters only that the response is
      // neither 401 nor 200.
      expectStatus(500, await push(world.http, target, body));
      const other = await eventually(() => newTarget(owner.test).catch(() => undefined), 'an integration is made');
      const settled = await report();
      const [refused, answered] = await Promise.all([push(world.http, target, body), push(world.http, other, settled)]);
      expect([refused.status, answered.status]).toEqual([500, 200]);
      expect(world.stack.logs('integration').some((line) => line.includes('that is not configured'))).toBe(true);
      expect(expectStatus(200, await owner.test.getAttempt(body.attempt_id)).body.status).toBe('open');

      await rollOut(world, integration, { ...current, INTEGRATION_SECRET_KEYS_ACCEPTED: `2:${second}` });
      await eventually(async () => {
        const answer = await push(world.http, target, body);
        return answer.status === 500 ? undefined : expectStatus(200, answer);
      }, 'the push is answered');
      await noneUnder(2, 'integration', 'laurel_encrypted_secrets');
      await rollOut(world, integration, { ...current, INTEGRATION_SECRET_KEYS_ACCEPTED: '' }, settles);
      await world.expectAuditOk();
    },
    TIMEOUT_MS,
  );
});

describe('OPERATOR_TOKENS', () => {
  test(
    'an operator can use two tokens of one name until the old token is removed',
    async () => {
      const [old, next] = [newKey(), newKey()];
      const statusOf = async (token: string) =>
        (await createOperator(world.http, token).send('GET', '/programs?limit=1')).status;
      await rollOut(world, { service: 'gateway', count: 1 }, { OPERATOR_TOKENS: `alice:${old},alice:${next}` });
      expect([await statusOf(old), await statusOf(next)]).toEqual([200, 200]);
      expectStatus(201, await createOperator(world.http, next).createProgram('Hers'));
      const { body } = await world.operator.send<{ data: unknown[] }>('GET', '/actions?limit=1');
      expect(body.data).toMatchObject([{ actor: 'alice', action: 'create_program' }]);
      await rollOut(world, { service: 'gateway', count: 1 }, { OPERATOR_TOKENS: `alice:${next}` });
      expect([await statusOf(old), await statusOf(next)]).toEqual([401, 200]);
    },
    TIMEOUT_MS,
  );
});
