import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectError, expectStatus, startWorld, type World } from '../world.ts';

describe('the life cycle of the processes', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ replicas: { gateway: 2 }, failpoints: true });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the processes report liveness, readiness and metrics', async () => {
    for (const adminUrl of world.stack.adminUrls('gateway')) {
      for (const path of ['/healthz', '/readyz']) expect((await fetch(adminUrl + path)).status).toBe(200);
      await eventually(
        async () => (await fetch(`${adminUrl}/readyz/dependencies`)).ok || undefined,
        'the gateway has connected to the services',
      );
      const metrics = await fetch(`${adminUrl}/metrics`);
      expect(metrics.status).toBe(200);
      expect(await metrics.text()).toContain('process_cpu_seconds_total');
    }
    for (const baseUrl of world.stack.baseUrls) {
      const health = await fetch(`${baseUrl}/healthz`);
      expect([health.status, await health.text()]).toEqual([200, 'ok']);
      for (const path of ['/readyz', '/metrics']) expect((await fetch(baseUrl + path)).status).toBe(404);
      const document = await fetch(`${baseUrl}/openapi.json`);
      expect(document.status).toBe(200);
      expect(document.headers.get('content-type')).toMatch(/application\/json/);
      expect(document.headers.get('x-powered-by')).toBeNull();
    }
  });

  test('gateways stay ready and serve tournaments while the challenge service is stopped', async () => {
    const [challenge, round, player] = [await world.newChallenge(), await world.newRound(), await world.newPlayer()];
    const look = async (path: string) => {
      const looks = world.stack.adminUrls('gateway').map(async (adminUrl) => {
        const answer = await fetch(adminUrl + path);
        return [answer.status, await answer.text()];
      });
      return await Promise.all(looks);
    };
    const ofBoth = (status: number, text: string) => Array(2).fill([status, text]);
    await world.stack.stop('challenge');
    await eventually(async () => {
      const answers = await look('/readyz/dependencies');
      return answers.every(([status]) => status === 503) || undefined;
    }, 'the gateways have noticed');
    expect(await look('/readyz/dependencies')).toEqual(ofBoth(503, 'not ready: challenge'));
    expect(await look('/readyz')).toEqual(ofBoth(200, 'ready'));
    const entry = await world.partner.createAttempt({ tournament_round_id: round.id, player_ref: player.ref });
    expectStatus(200, await world.partner.reportOutcome(expectStatus(201, entry).body.id, { score: 1 }));
    await world.stack.restart('challenge');
    await eventually(async () => {
      const answers = await look('/readyz/dependencies');
      return answers.every(([status]) => status === 200) || undefined;
    }, 'the gateways reach the challenge service again');
    const attempt = { challenge_id: challenge.id, player_ref: player.ref };
    // Requests go to the gateways in turn, and each gateway reconnects by itself.
    const keys = [randomUUID(), randomUUID()];
    await eventually(async () => {
      const answers = [];
      for (const key of keys) answers.push(await world.partner.createAttempt(attempt, key));
      return answers.every(({ status }) => status === 201) || undefined;
    }, 'its attempts are created again by both gateways');
  });

  test('one request id appears in the response and in the logs of every service that handles the request', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const answer = expectStatus(201, await world.partner.createAttempt(entry));
    const requestId = answer.headers['x-request-id'] ?? '';
    expect(requestId).toMatch(/.{8,}/);
    const lines = await eventually(async () => {
      const found = world.stack.logs('gateway').filter((line) => line.includes(requestId));
      return found.length > 0 ? found : undefined;
    }, 'the gateway logged the request');
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  test('the processes log no key, no e-mail and no evidence', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const secret = `evidence-${randomUUID()}`;
    expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 1, evidence: { secret } }));
    await world.partner.linkPlayer(player.ref, `${secret}@example.com`);
    const round = await world.newRound();
    const entry = await world.partner.createAttempt({ tournament_round_id: round.id, player_ref: player.ref });
    expectStatus(200, await world.partner.reportOutcome(entry.body.id, { score: 1, evidence: { secret } }));
    expectStatus(200, await world.partner.closeRound(round.id));
    for (const service of ['gateway', 'challenge', 'tournament', 'wallet'] as const) {
      const log = world.stack.logs(service).join('\n');
      for (const word of [secret, player.email, world.partner.apiKey, world.stack.operatorToken]) {
        expect(log.includes(word), `${service} logs a secret`).toBe(false);
      }
    }
  });

  test('a gateway that is stopped completes the requests that it has begun', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    world.stack.arm('gateway.create.before-call', 'delay:700');
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    const begun = world.partner.createAttempt(body);
    await eventually(async () => world.stack.isFired('gateway.create.before-call') || undefined, 'the request began');
    const codes = Promise.all([world.stack.stop('gateway', 0), world.stack.stop('gateway', 1)]);
    expectStatus(201, await begun);
    expect(await codes).toEqual([0, 0]);
    await Promise.all([world.stack.restart('gateway', 0), world.stack.restart('gateway', 1)]);
  });

  test.each(['challenge', 'tournament', 'wallet'] as const)(
    'a stop of %s under load loses nothing and exits with code 0',
    async (service) => {
      const parent =
        service === 'tournament'
          ? { tournament_round_id: (await world.newRound({ attempt_cap: 40 })).id }
          : { challenge_id: (await world.newChallenge()).id };
      const player = await world.newPlayer();
      const keys = Array.from({ length: 40 }, () => randomUUID());
      const body = { ...parent, player_ref: player.ref };
      const first = Promise.all(keys.map((key) => world.partner.createAttempt(body, key)));
      const code = world.stack.stop(service);
      await first;
      expect(await code).toBe(0);
      await world.stack.restart(service);
      for (const key of keys) {
        await eventually(async () => {
          const answer = await world.partner.createAttempt(body, key);
          return answer.status === 201 || undefined;
        }, 'the retry succeeded');
      }
      expect(await world.balance(player)).toBe('60.00');
    },
  );

  test('a create gets a 500 within six seconds while the challenge service is down', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const key = randomUUID();
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    await world.stack.stop('challenge');
    const started = Date.now();
    expectError(500, 'internal_error', await world.partner.createAttempt(body, key));
    expect(Date.now() - started).toBeLessThan(6_000);
    await world.stack.restart('challenge');
    const created = await eventually(async () => {
      const answer = await world.partner.createAttempt(body, key);
      return answer.status === 201 ? answer : undefined;
    }, 'the challenge service is reachable again');
    expect(created.body.player_ref).toBe(player.ref);
    expect(await world.balance(player)).toBe('99.00');
  });

  test('the audit finds no violation after the drains', () => world.expectAuditOk());
});
