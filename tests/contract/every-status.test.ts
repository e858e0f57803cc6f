import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectError, expectStatus, insideOneWindow, startWorld, type World } from '../world.ts';
import type { RouteStatus } from './openapi.ts';

const LIMIT = 100;

/** What the contract lets each route of this issue answer. */
const ROUTES: Readonly<Record<string, readonly number[]>> = {
  'GET /v1/challenges': [200, 400, 401, 429, 500],
  'POST /v1/players': [201, 400, 401, 404, 429, 500],
  'POST /v1/attempts': [201, 400, 401, 402, 403, 404, 409, 429, 500],
  'POST /v1/attempts/{attempt_id}/outcome': [200, 400, 401, 404, 409, 422, 429, 500],
  'GET /v1/attempts/{attempt_id}': [200, 401, 404, 429, 500],
};
const EXPECTED: RouteStatus[] = Object.entries(ROUTES).flatMap(([route, statuses]) =>
  statuses.map((status) => `${route} ${status}` as RouteStatus),
);

/** Every answer below is held against the served document by the client itself; here each one is provoked. */
describe('the served OpenAPI document', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ failpoints: true, environment: { gateway: { RATE_LIMIT_PER_MINUTE: String(LIMIT) } } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('describes exactly the statuses of the contract', () => {
    const described = [...world.contract.documented].filter((entry) =>
      Object.keys(ROUTES).some((route) => entry.startsWith(`${route} `)),
    );
    expect(described.sort()).toEqual([...EXPECTED].sort());
  });

  test('matches what each route answers', async () => {
    const program = await world.newProgram();
    const challenge = await world.newChallenge({ score_max: 1000, daily_attempt_cap: 3 }, program);
    const suspended = await world.newChallenge({}, program);
    expectStatus(200, await world.operator.updateChallenge(suspended.id, { status: 'suspended' }));
    const rung = await world.newChallenge({ parent_challenge_id: suspended.id }, program);
    const player = await world.newPlayer({ partner: program.test });
    const blocked = await world.newPlayer({ partner: program.test });
    expectStatus(200, await world.operator.updateAccount(blocked.accountId, { blocked: true }));
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const { test: partner } = program;

    expectStatus(200, await partner.listChallenges(player.ref));
    expectStatus(200, await partner.listChallenges(player.ref, 'all'));
    expectError(400, 'invalid_request', await partner.send('GET', '/v1/challenges'));
    expectStatus(201, await partner.linkPlayer(player.ref, player.email));
    expectError(400, 'invalid_request', await partner.send('POST', '/v1/players', { body: {} }));
    expectError(404, 'not_found', await partner.linkPlayer(player.ref, `${randomUUID()}@example.com`));

    const key = randomUUID();
    const attempt = expectStatus(201, await partner.createAttempt({ ...entry, metadata: { a: 1 } }, key)).body;
    expectError(400, 'invalid_request', await partner.send('POST', '/v1/attempts', { body: entry }));
    expectError(402, 'insufficient_funds', await partner.createAttempt({ ...entry, player_ref: randomUUID() }));
    expectError(403, 'blocked', await partner.createAttempt({ ...entry, player_ref: blocked.ref }));
    expectError(404, 'not_found', await partner.createAttempt({ ...entry, challenge_id: randomUUID() }));
    expectError(409, 'challenge_not_available', await partner.createAttempt({ ...entry, challenge_id: suspended.id }));
    expectError(409, 'rung_locked', await partner.createAttempt({ ...entry, challenge_id: rung.id }));
    expectError(409, 'idempotency_key_reused', await partner.createAttempt(entry, key));

    world.stack.arm('gateway.create.before-call', 'delay:800');
    const slowKey = randomUUID();
    const slow = partner.createAttempt(entry, slowKey);
    await eventually(async () => world.stack.isFired('gateway.create.before-call') || undefined, 'the create is held');
    expectError(409, 'idempotency_in_progress', await partner.createAttempt(entry, slowKey));
    const spoilt = expectStatus(201, await slow).body;
    const third = expectStatus(201, await partner.createAttempt(entry)).body;
    expectError(409, 'attempt_cap_reached', await partner.createAttempt(entry));

    expectStatus(200, await partner.getAttempt(attempt.id));
    expectError(404, 'not_found', await partner.getAttempt(randomUUID()));
    const outcomeKey = randomUUID();
    expectStatus(200, await partner.reportOutcome(third.id, { score: 1 }, outcomeKey));
    expectError(409, 'attempt_already_settled', await partner.reportOutcome(third.id, { score: 1 }));
    expectError(409, 'idempotency_key_reused', await partner.reportOutcome(third.id, { score: 2 }, outcomeKey));
    expectError(422, 'score_out_of_range', await partner.reportOutcome(spoilt.id, { score: 1001 }));
    expectError(404, 'not_found', await partner.reportOutcome(randomUUID(), { score: 1 }));
    expectError(400, 'invalid_request', await partner.send('POST', `/v1/attempts/${attempt.id}/outcome`, { body: {} }));
    const won = expectStatus(200, await partner.reportOutcome(attempt.id, { score: 100, evidence: { a: 1 } }));
    expect(won.body.award?.payout_status).toBe('paid');
    expectStatus(200, await partner.getAttempt(attempt.id));
    expectError(409, 'challenge_already_claimed', await partner.createAttempt(entry));
    expectStatus(200, await partner.expireAttempt(spoilt.id));
    expectStatus(200, await partner.getAttempt(spoilt.id));
  });

  test('would notice an answer that breaks it', () => {
    const good = world.http.journal.find((entry) => entry.path === '/v1/attempts' && entry.answer.status === 201);
    if (good === undefined) return expect.fail('no attempt was created');
    const body = good.answer.body as Record<string, unknown>;
    const told = (changes: object) => () =>
      world.contract.check({ ...good, answer: { ...good.answer, body: { ...body, ...changes } } });
    expect(told({})).not.toThrow();
    for (const changes of [
      { fee_charged: 1 },
      { fee_charged: '1.0' },
      { status: 'pending' },
      { outcome: undefined },
      { created_at: 'yesterday' },
      { id: 'nonsense' },
      { player_ref: undefined },
    ]) {
      expect(told(changes), JSON.stringify(changes)).toThrow();
    }
    const failure = {
      ...good,
      answer: { ...good.answer, status: 404, body: { error: { code: 'nope', message: 'x' } } },
    };
    expect(() => world.contract.check(failure)).toThrow();
    expect(() => world.contract.check({ ...good, answer: { ...good.answer, status: 202 } })).toThrow();
  });

  const probes = (): (readonly [string, string, object | undefined])[] => [
    ['GET', '/v1/challenges?player_ref=a', undefined],
    ['POST', '/v1/players', { player_ref: 'a', email: 'nobody@example.com' }],
    ['POST', '/v1/attempts', { challenge_id: randomUUID(), player_ref: 'a' }],
    ['POST', `/v1/attempts/${randomUUID()}/outcome`, { score: 1 }],
    ['GET', `/v1/attempts/${randomUUID()}`, undefined],
  ];

  test('matches 401 on every route', async () => {
    for (const [method, path, body] of probes()) {
      const headers = { 'idempotency-key': randomUUID() };
      expectStatus(401, await world.http.send(method, path, body === undefined ? { headers } : { body, headers }));
    }
  });

  test('matches 429 on every route', async () => {
    const statuses = await insideOneWindow(world, async (program) => {
      await Promise.all(Array.from({ length: LIMIT }, () => program.test.listChallenges('a')));
      const refused: number[] = [];
      for (const [method, path, body] of probes()) {
        const headers = { 'idempotency-key': randomUUID() };
        const options = body === undefined ? { headers } : { body, headers };
        refused.push((await program.test.send(method, path, options)).status);
      }
      return refused;
    });
    expect(statuses).toEqual([429, 429, 429, 429, 429]);
  });

  test('matches 500 on every route, with the services behind the gateway down', async () => {
    const program = await world.newProgram();
    expectStatus(200, await program.test.listChallenges('a'));
    await Promise.all([world.stack.stop('challenge'), world.stack.stop('wallet')]);
    const real = world.http.journal.find((entry) => entry.path === '/v1/attempts' && entry.answer.status === 201);
    const { id } = (real?.answer.body ?? {}) as { id?: string };
    expect(id).toMatch(/./);
    for (const [method, path, body] of probes()) {
      const headers = { 'idempotency-key': randomUUID() };
      const options = body === undefined ? { headers } : { body, headers };
      // An id that no service minted may be turned away before any service is asked: use one that exists.
      const target = path.replace(/\/attempts\/[0-9a-f-]{36}/, `/attempts/${id}`);
      const answer = await program.test.send(method, target, options);
      expectError(500, 'internal_error', answer);
      expect(answer.text).not.toMatch(/UNAVAILABLE|ECONNREFUSED|127\.0\.0\.1|grpc|breaker/i);
    }
  });

  test('was seen whole', () => {
    const unseen = EXPECTED.filter((entry) => !world.contract.seen.has(entry));
    expect(unseen).toEqual([]);
  });
});
