import { randomUUID } from 'node:crypto';
import { createIntegrations, type JournalEntry, signIn } from '@laurel/testing';
import type { RouteStatus } from '@laurel/testing/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Developer,
  eventually,
  expectError,
  expectStatus,
  insideOneWindow,
  startWorld,
  WITH_TIEBREAK,
  type World,
} from '../world.ts';
import { type PathIds, type PortalRoute, portalRoutes } from './portal-routes.ts';

const LIMIT = 100;
/**
 * The routes for which the gateway calls no other service. A missing service cannot make them fail.
 */
const GATEWAY_ALONE =
  /^\/api\/portal\/(?:session|session\/link|me|webhook-events|programs|programs\/\{programId\}(?:|\/test-key|\/requests(?:\/.*)?))$/;

/** The statuses that the contract allows for each route. */
const ROUTES: Readonly<Record<string, readonly number[]>> = {
  'GET /v1/challenges': [200, 400, 401, 429, 500],
  'POST /v1/challenges/{id}/distribution': [201, 400, 401, 409, 429, 500],
  'POST /v1/players': [201, 400, 401, 404, 429, 500],
  'POST /v1/attempts': [201, 400, 401, 402, 403, 404, 409, 429, 500],
  'POST /v1/attempts/{attempt_id}/outcome': [200, 400, 401, 404, 409, 422, 429, 500],
  'GET /v1/attempts/{attempt_id}': [200, 401, 404, 429, 500],
  'GET /v1/tournaments': [200, 400, 401, 429, 500],
  'GET /v1/tournaments/rounds/{round_id}/leaderboard': [200, 400, 401, 404, 429, 500],
  'POST /v1/integrations': [201, 400, 401, 429, 500],
  'GET /v1/integrations': [200, 401, 429, 500],
  'PATCH /v1/integrations/{id}': [200, 400, 401, 404, 429, 500],
  'POST /v1/integrations/{id}/rotate-secret': [200, 400, 401, 404, 429, 500],
  'DELETE /v1/integrations/{id}/previous-secret': [200, 401, 404, 429, 500],
};
/** The codes that only attempts in rounds return. */
const ROUND_CODES = ['entries_closed', 'insider_entry', 'round_closed', 'tiebreak_required'];
const EXPECTED: RouteStatus[] = Object.entries(ROUTES).flatMap(([route, statuses]) =>
  statuses.map((status) => `${route} ${status}` as RouteStatus),
);

/**
 * The statuses of these routes that a developer can cause. This list is older than the document of
 * the routes. The tests of `portalRoutes` provoke the failures of every route of the portal.
 */
const DEVELOPER_ROUTES: Readonly<Record<string, readonly number[]>> = {
  'POST /api/operator/developers': [201, 400, 401, 409],
  'POST /api/operator/programs': [201, 400, 401, 404, 500],
  'POST /api/portal/session': [201, 400, 401, 429],
  'DELETE /api/portal/session': [204, 401, 403],
  'GET /api/portal/programs': [200, 400, 401],
  'POST /api/portal/programs/{id}/test-key': [200, 401, 403, 404],
  'POST /api/portal/webhook-endpoints': [201, 400, 401, 403, 404, 409, 500],
  'GET /api/portal/webhook-endpoints': [200, 401, 500],
  'GET /api/portal/webhook-endpoints/{id}': [200, 401, 404, 500],
  'PATCH /api/portal/webhook-endpoints/{id}': [200, 400, 401, 403, 404, 500],
  'DELETE /api/portal/webhook-endpoints/{id}': [204, 401, 403, 404, 500],
  'POST /api/portal/webhook-endpoints/{id}/rotate-secret': [200, 401, 403, 404, 500],
  'POST /api/portal/webhook-endpoints/{id}/test': [202, 401, 403, 404, 409, 500],
  'GET /api/portal/webhook-endpoints/{id}/deliveries': [200, 400, 401, 404, 500],
  'POST /api/portal/deliveries/{id}/resend': [202, 401, 403, 404, 409, 500],
  'POST /api/portal/integrations/dry-run': [200, 400, 401, 403, 500],
  'GET /api/portal/integrations/{id}/log': [200, 400, 401, 404, 500],
  'POST /api/sandbox/webhook-deliveries/{id}/retry-now': [202, 401, 404, 409, 500],
  'GET /api/sandbox/events': [200, 400, 401, 500],
};

/**
 * The client checks every response below against the served document; these tests provoke each
 * status.
 */
describe('every status of every route', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      failpoints: true,
      environment: {
        gateway: { RATE_LIMIT_PER_MINUTE: String(LIMIT) },
        // Automatic retries would come too late for these tests, which therefore request each
        // retry.
        webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '3600,3600' },
      },
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the served document describes exactly the statuses of the contract', () => {
    const described = [...world.contract.documented].filter((entry) =>
      Object.keys(ROUTES).some((route) => entry.startsWith(`${route} `)),
    );
    expect(described.sort()).toEqual([...EXPECTED].sort());
  });

  test('each /v1 route of challenges answers all of its statuses as documented', async () => {
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

    const calibrating = await world.newChallenge({ status: 'calibrating', threshold: null }, program);
    const seed = { distribution: { p5: 10, p25: 30, p50: 50, p75: 70, p95: 110 }, sample_size: 500 };
    const seedKey = randomUUID();
    expectError(400, 'invalid_request', await partner.seedChallenge(challenge.id, seed));
    world.stack.arm('gateway.seed.before-call', 'delay:800');
    const slowSeed = partner.seedChallenge(calibrating.id, seed, seedKey);
    await eventually(async () => world.stack.isFired('gateway.seed.before-call') || undefined, 'the seeding is held');
    expectError(409, 'idempotency_in_progress', await partner.seedChallenge(calibrating.id, seed, seedKey));
    expectStatus(201, await slowSeed);
    const other = { ...seed, sample_size: 501 };
    expectError(409, 'idempotency_key_reused', await partner.seedChallenge(calibrating.id, other, seedKey));

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
    const disqualified = expectStatus(201, await slow).body;
    const third = expectStatus(201, await partner.createAttempt(entry)).body;
    expectError(409, 'attempt_cap_reached', await partner.createAttempt(entry));

    expectStatus(200, await partner.getAttempt(attempt.id));
    expectError(404, 'not_found', await partner.getAttempt(randomUUID()));
    const outcomeKey = randomUUID();
    world.stack.arm('gateway.outcome.before-call', 'delay:800');
    const slowReport = partner.reportOutcome(third.id, { score: 1 }, outcomeKey);
    await eventually(async () => world.stack.isFired('gateway.outcome.before-call') || undefined, 'the report is held');
    expectError(409, 'idempotency_in_progress', await partner.reportOutcome(third.id, { score: 1 }, outcomeKey));
    expectStatus(200, await slowReport);
    expectError(409, 'attempt_already_settled', await partner.reportOutcome(third.id, { score: 1 }));
    expectError(409, 'idempotency_key_reused', await partner.reportOutcome(third.id, { score: 2 }, outcomeKey));
    expectError(422, 'score_out_of_range', await partner.reportOutcome(disqualified.id, { score: 1001 }));
    expectError(404, 'not_found', await partner.reportOutcome(randomUUID(), { score: 1 }));
    expectError(400, 'invalid_request', await partner.send('POST', `/v1/attempts/${attempt.id}/outcome`, { body: {} }));
    const won = expectStatus(200, await partner.reportOutcome(attempt.id, { score: 100, evidence: { a: 1 } }));
    expect(won.body.award?.payout_status).toBe('paid');
    expectStatus(200, await partner.getAttempt(attempt.id));
    expectError(409, 'challenge_already_claimed', await partner.createAttempt(entry));
    expectStatus(200, await partner.expireAttempt(disqualified.id));
    expectStatus(200, await partner.getAttempt(disqualified.id));
  });

  test('each /v1 route of rounds answers all of its statuses as documented', async () => {
    const program = await world.newProgram();
    const round = await world.newRound({ ...WITH_TIEBREAK, attempt_cap: 2 }, program);
    const live = await world.newRound({ environment: 'live' }, program);
    const player = await world.newPlayer({ partner: program.test });
    const insider = await world.newPlayer({ partner: program.live, environment: 'live' });
    expectStatus(201, await world.operator.addInsider(program.id, insider.accountId));
    const entry = { tournament_round_id: round.id, player_ref: player.ref };
    const { test: partner } = program;

    expectStatus(200, await partner.listTournaments());
    expectStatus(200, await partner.listTournaments('all'));
    expectError(400, 'invalid_request', await partner.send('GET', '/v1/tournaments?status=paused'));
    expectStatus(200, await partner.getLeaderboard(round.id));
    expectError(404, 'not_found', await partner.getLeaderboard(randomUUID()));
    const twice = `/v1/tournaments/rounds/${round.id}/leaderboard?player_ref=a&player_ref=b`;
    expectError(400, 'invalid_request', await partner.send('GET', twice));

    const attempt = expectStatus(201, await partner.createAttempt(entry)).body;
    const late = expectStatus(201, await partner.createAttempt(entry)).body;
    expectError(409, 'attempt_cap_reached', await partner.createAttempt(entry));
    expectError(404, 'not_found', await partner.createAttempt({ ...entry, tournament_round_id: randomUUID() }));
    const insiders = { tournament_round_id: live.id, player_ref: insider.ref };
    expectError(403, 'insider_entry', await program.live.createAttempt(insiders));
    expectError(422, 'tiebreak_required', await partner.reportOutcome(attempt.id, { score: 1 }));
    expectStatus(200, await partner.getLeaderboard(round.id, player.ref));
    expectStatus(200, await partner.reportOutcome(attempt.id, { score: 1.5, tiebreak: 2 }));
    expectStatus(200, await partner.getLeaderboard(round.id, player.ref));
    expectStatus(200, await partner.getAttempt(attempt.id));
    expectStatus(200, await partner.closeEntries(round.id));
    expectError(409, 'entries_closed', await partner.createAttempt(entry));
    expectStatus(200, await partner.closeRound(round.id));
    expectError(409, 'round_closed', await partner.reportOutcome(late.id, { score: 1, tiebreak: 1 }));
    expectStatus(200, await partner.getAttempt(late.id));
    expectStatus(200, await partner.getLeaderboard(round.id, player.ref));
    expectStatus(200, await partner.getLeaderboard(round.id));
    expectStatus(200, await partner.listTournaments());
    const codes = new Set(world.http.journal.map((seen) => seen.answer.code));
    expect(ROUND_CODES.filter((code) => !codes.has(code))).toEqual([]);
  });

  test('each /v1 route of integrations answers all of its statuses as documented', async () => {
    const { test: partner } = await world.newProgram();
    const integrations = createIntegrations(partner);
    const { id } = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
    const polled = expectStatus(201, await integrations.create({ transport: 'pull_poll' })).body;
    expectError(400, 'invalid_request', await partner.send('POST', '/v1/integrations', { body: {} }));
    expectStatus(200, await integrations.list());
    expectStatus(200, await integrations.update(id, { status: 'active' }));
    expectError(400, 'invalid_request', await integrations.update(polled.id, { status: 'active' }));
    expectError(404, 'not_found', await integrations.update(randomUUID(), {}));
    expectStatus(200, await integrations.rotateSecret(id));
    expectError(400, 'invalid_request', await integrations.rotateSecret(polled.id));
    expectError(404, 'not_found', await integrations.rotateSecret(randomUUID()));
    expectStatus(200, await integrations.retirePreviousSecret(id));
    expectError(404, 'not_found', await integrations.retirePreviousSecret(randomUUID()));
  });

  test('each developer route answers every status of its table', async () => {
    const since = world.http.journal.length;
    const owner = await world.newDeveloper();
    const { portal, program, email, password } = owner;
    /** A URL at which nothing listens. */
    const url = 'https://127.0.0.1:9443/';
    const delayed = await world.newReceiver(owner, { answer: { status: 500 } });
    const { id } = expectStatus(201, await portal.createEndpoint({ url, events: ['round.settled'] })).body;
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const attempt = expectStatus(201, await program.test.createAttempt(entry)).body;
    expectStatus(200, await program.test.reportOutcome(attempt.id, { score: 1 }));
    const { deliveryId } = await delayed.event('attempt.settled', attempt.id);
    await delayed.delivery(deliveryId, ({ attempts }) => attempts[0]?.http_status === 500);
    const retryNow = () => program.test.retryNow(deliveryId);
    const listEvents = () => program.test.call(({ sandbox }) => sandbox.listEvents());

    // These requests succeed.
    expectStatus(202, await retryNow());
    expectStatus(200, await listEvents());
    expectStatus(200, await portal.listPrograms());
    expectStatus(200, await portal.listEndpoints());
    expectStatus(200, await portal.getEndpoint(id));
    expectStatus(200, await portal.updateEndpoint(id, { description: 'mine' }));
    expectStatus(200, await portal.rotateSecret(id));
    expectStatus(202, await portal.sendTest(id));
    expectStatus(200, await portal.listDeliveries(id));
    expectStatus(202, await portal.resend(deliveryId));
    const integrations = createIntegrations(program.test);
    const integration = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
    const readLog = (query = '') => portal.send('GET', `/integrations/${integration.id}/log${query}`);
    const dryRun = (transport: string) =>
      portal.send('POST', '/integrations/dry-run', { body: { transport, descriptor: {}, sample: {} } });
    expectStatus(200, await readLog());
    expectStatus(200, await dryRun('push_webhook'));

    // These requests are refused.
    expectError(409, 'conflict', await world.operator.createDeveloper({ email, password }));
    expectError(400, 'invalid_request', await world.operator.createDeveloper({ email, password: 'short' }));
    expectError(400, 'invalid_request', await world.operator.createProgram('', owner.id));
    expectError(404, 'not_found', await world.operator.createProgram('Arena', randomUUID()));
    expectError(400, 'invalid_request', await world.http.send('POST', '/api/portal/session', { body: {} }));
    expectError(400, 'invalid_request', await portal.send('GET', '/programs?limit=0'));
    expectError(400, 'invalid_request', await portal.createEndpoint({ url: 'nonsense' }));
    expectError(404, 'not_found', await portal.createEndpoint({ url, program_id: randomUUID() }));
    expectError(400, 'invalid_request', await portal.updateEndpoint(id, {}));
    expectError(400, 'invalid_request', await portal.send('GET', `/webhook-endpoints/${id}/deliveries?status=x`));
    expectError(404, 'not_found', await program.test.retryNow(randomUUID()));
    expectError(
      401,
      'unauthorized',
      await program.live.send('POST', `/api/sandbox/webhook-deliveries/${deliveryId}/retry-now`),
    );
    expectError(400, 'invalid_request', await readLog('?limit=0'));
    expectError(
      400,
      'invalid_request',
      await program.test.call(({ sandbox }) => sandbox.listEvents({ after: 'nonsense' })),
    );
    expectError(400, 'invalid_request', await dryRun('carrier_pigeon'));
    await Promise.all(Array.from({ length: 20 }, () => portal.createEndpoint({ url })));
    expectError(409, 'conflict', await portal.createEndpoint({ url }));
    expectStatus(200, await portal.updateEndpoint(id, { active: false }));
    expectError(409, 'conflict', await portal.sendTest(id));
    expectStatus(200, await portal.updateEndpoint(delayed.endpoint.id, { active: false }));
    expectError(409, 'conflict', await portal.resend(deliveryId));
    expectError(409, 'conflict', await retryNow());

    // Calls each route without a session, for a resource that does not exist, and from another
    // site.
    const templates = Object.keys(DEVELOPER_ROUTES).filter(
      (route) => !route.endsWith('/session') || route.startsWith('DELETE'),
    );
    const foreign = { cookie: `laurel_session=${portal.token}`, 'sec-fetch-site': 'cross-site' };
    for (const [method = '', path = ''] of templates.map((route) => route.split(' '))) {
      const there = path.replace('{id}', randomUUID());
      expectError(401, 'unauthorized', await world.http.send(method, there, { body: {} }));
      if (!path.startsWith('/api/portal/')) continue;
      if (method !== 'GET') expectError(403, 'forbidden', await world.http.send(method, there, { headers: foreign }));
      const headers = { authorization: `Bearer ${portal.token}` };
      const body = method === 'PATCH' ? { body: { active: true } } : {};
      if (path === there) continue;
      expectError(404, 'not_found', await world.http.send(method, there, { headers, ...body }));
    }

    // The webhook and integration services are down; routes that only the portal serves keep
    // working.
    await Promise.all([world.stack.stop('webhook'), world.stack.stop('integration')]);
    for (const answer of [
      await world.operator.createProgram('Arena', owner.id),
      await portal.createEndpoint({ url }),
      await portal.listEndpoints(),
      await portal.getEndpoint(id),
      await portal.updateEndpoint(id, { active: true }),
      await portal.deleteEndpoint(id),
      await portal.rotateSecret(id),
      await portal.sendTest(id),
      await portal.listDeliveries(id),
      await portal.resend(deliveryId),
      await retryNow(),
      await listEvents(),
      await readLog(),
      await dryRun('push_webhook'),
    ]) {
      expectError(500, 'internal_error', answer);
    }
    expectStatus(200, await portal.replaceTestKey(program.id));
    await Promise.all([world.stack.restart('webhook'), world.stack.restart('integration')]);
    await eventually(
      async () => ((await portal.listEndpoints()).status === 200 && (await readLog()).status === 200) || undefined,
      'the gateway speaks to the two services again',
    );
    expectStatus(204, await portal.deleteEndpoint(id));
    const guesses = Array.from({ length: 5 }, () => signIn(world.http, { email, password: 'wrong' }));
    for (const answer of await Promise.all(guesses)) expectError(401, 'unauthorized', answer);
    expectStatus(429, await signIn(world.http, { email, password }));
    expectStatus(204, await portal.signOut());

    const seen = new Set<string>();
    for (const { method, path, answer } of world.http.journal.slice(since)) {
      const template = path.split('?')[0]?.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '{id}');
      if (`${method} ${template}` in DEVELOPER_ROUTES) seen.add(`${method} ${template} ${answer.status}`);
    }
    const table = Object.entries(DEVELOPER_ROUTES).flatMap(([route, statuses]) =>
      statuses.map((status) => `${route} ${status}`),
    );
    expect([...seen].sort()).toEqual(table.sort());
  });

  let portalIds: PathIds;
  let portalToken: string;
  const ask = (route: PortalRoute, ids: PathIds, { query, ...headers }: Record<string, string> = {}) => {
    const body = route.bodyFor(ids);
    const options = body === undefined ? { headers } : { headers, body };
    return world.http.send(route.method, route.addressFor(ids, query), options);
  };

  test('every route of the portal answers each refusal as documented', async () => {
    const owner = await world.newDeveloper();
    const { portal, program } = owner;
    portalToken = portal.token;
    portalIds = await makePortalItems(world, owner);
    const otherDeveloper = { authorization: `Bearer ${(await world.newDeveloper()).portal.token}` };
    const signedIn = { authorization: `Bearer ${portalToken}` };
    const otherSite = { cookie: `laurel_session=${portalToken}`, 'sec-fetch-site': 'cross-site' };
    const keyless = await world.newProgram(owner);
    expectStatus(200, await world.operator.updateProgram(keyless.id, { status: 'suspended' }));
    expectStatus(200, await portal.updateEndpoint(portalIds.endpointId ?? '', { active: false }));

    const cause = {
      400: (route: PortalRoute) => ask(route, portalIds, { ...signedIn, query: 'unknown=1' }),
      401: (route: PortalRoute) => ask(route, portalIds),
      403: (route: PortalRoute) => ask(route, portalIds, otherSite),
      404: (route: PortalRoute) => ask(route, portalIds, otherDeveloper),
      409: (route: PortalRoute) =>
        ask(route, { ...portalIds, ...(route.path.includes('{programId}') && { programId: keyless.id }) }, signedIn),
    };
    const answers: unknown[] = [];
    for (const route of portalRoutes()) {
      for (const [status, provoke] of Object.entries(cause)) {
        // The developer routes above reach their limit of endpoints.
        if (!route.statuses.includes(Number(status)) || (status === '409' && route.path.endsWith('/webhook-endpoints')))
          continue;
        // The path has no id. The body names a program of another developer, which is not found.
        const given = await (status === '404' && route.path.endsWith('/webhook-endpoints')
          ? world.http.send(route.method, route.path, {
              headers: otherDeveloper,
              body: { url: 'https://127.0.0.1:9443/', program_id: program.id },
            })
          : provoke(route));
        if (given.status !== Number(status)) answers.push([route.method, route.path, status, given.status, given.text]);
      }
    }
    expect(answers).toEqual([]);

    const sandbox = `/programs/${program.id}/sandbox/attempts`;
    const poor = { challenge_id: portalIds.challengeId, player_ref: randomUUID() };
    expectError(402, 'insufficient_funds', await portal.send('POST', sandbox, { body: poor }));
    const report = { body: { score: 1001 } };
    const outcome = `${sandbox}/${portalIds.attemptId}/outcome`;
    expectError(422, 'score_out_of_range', await portal.send('POST', outcome, report));
  });

  test('the contract check rejects a response that breaks the document', () => {
    const good = world.http.journal.find((entry) => entry.path === '/v1/attempts' && entry.answer.status === 201);
    if (good === undefined) return expect.fail('no attempt was created');
    const body = good.answer.body as Record<string, unknown>;
    const check = (changes: object) => () =>
      world.contract.check({ ...good, answer: { ...good.answer, body: { ...body, ...changes } } });
    expect(check({})).not.toThrow();
    for (const changes of [
      { fee_charged: 1 },
      { fee_charged: '1.0' },
      { status: 'pending' },
      { outcome: undefined },
      { created_at: 'yesterday' },
      { id: 'nonsense' },
      { player_ref: undefined },
    ]) {
      expect(check(changes), JSON.stringify(changes)).toThrow();
    }
    const failure = {
      ...good,
      answer: { ...good.answer, status: 404, body: { error: { code: 'nope', message: 'x' } } },
    };
    expect(() => world.contract.check(failure)).toThrow();
    expect(() => world.contract.check({ ...good, answer: { ...good.answer, status: 202 } })).toThrow();
  });

  test('the contract check rejects a leaderboard that is neither masked nor full', () => {
    const boards = world.http.journal.filter(
      (entry) => entry.path.includes('/leaderboard') && entry.answer.status === 200,
    );
    const masked =
      boards.find((entry) => (entry.answer.body as { locked?: true }).locked) ?? expect.fail('none masked');
    const full = boards.findLast((entry) => (entry.answer.body as { data?: object[] }).data?.length === 1);
    const check = (entry: JournalEntry, changes: object) => () =>
      world.contract.check({
        ...entry,
        answer: { ...entry.answer, body: { ...(entry.answer.body as object), ...changes } },
      });
    for (const entry of [masked, full ?? expect.fail('none full')]) {
      expect(check(entry, {})).not.toThrow();
      expect(check(entry, { scored_players: undefined })).toThrow();
      expect(check(entry, { round: undefined })).toThrow();
    }
    expect(check(masked, { locked: undefined })).toThrow();
    expect(check(masked, { reason: 'because' })).toThrow();
  });

  const probes = (): (readonly [string, string, object | undefined])[] => [
    ['GET', '/v1/challenges?player_ref=a', undefined],
    [
      'POST',
      `/v1/challenges/${randomUUID()}/distribution`,
      { distribution: { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 }, sample_size: 500 },
    ],
    ['POST', '/v1/players', { player_ref: 'a', email: 'unknown@example.com' }],
    ['POST', '/v1/attempts', { challenge_id: randomUUID(), player_ref: 'a' }],
    ['POST', `/v1/attempts/${randomUUID()}/outcome`, { score: 1 }],
    ['GET', `/v1/attempts/${randomUUID()}`, undefined],
    ['GET', '/v1/tournaments', undefined],
    ['GET', `/v1/tournaments/rounds/${randomUUID()}/leaderboard`, undefined],
    ['POST', '/v1/integrations', { transport: 'sdk_direct' }],
    ['GET', '/v1/integrations', undefined],
    ['PATCH', `/v1/integrations/${randomUUID()}`, {}],
    ['POST', `/v1/integrations/${randomUUID()}/rotate-secret`, undefined],
    ['DELETE', `/v1/integrations/${randomUUID()}/previous-secret`, undefined],
  ];

  test('every /v1 route answers 401 as documented', async () => {
    for (const [method, path, body] of probes()) {
      const headers = { 'idempotency-key': randomUUID() };
      expectStatus(401, await world.http.send(method, path, body === undefined ? { headers } : { body, headers }));
    }
  });

  test('every /v1 route answers 429 as documented', async () => {
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
    expect(statuses).toEqual(Array(13).fill(429));
  });

  test('every /v1 route answers 500 as documented while the services behind the gateway are down', async () => {
    const program = await world.newProgram();
    expectStatus(200, await program.test.listChallenges('a'));
    const behind = ['integration', 'challenge', 'tournament', 'wallet'] as const;
    await Promise.all(behind.map((service) => world.stack.stop(service)));
    const real = world.http.journal.find((entry) => entry.path === '/v1/attempts' && entry.answer.status === 201);
    const { id } = (real?.answer.body ?? {}) as { id?: string };
    expect(id).toMatch(/./);
    for (const [method, path, body] of probes()) {
      const headers = { 'idempotency-key': randomUUID() };
      const options = body === undefined ? { headers } : { body, headers };
      // For an id that no service made, the gateway may refuse without a call, so this uses an
      // existing id.
      const target = path.replace(/\/attempts\/[0-9a-f-]{36}/, `/attempts/${id}`);
      const answer = await program.test.send(method, target, options);
      expectError(500, 'internal_error', answer);
      expect(answer.text).not.toMatch(/UNAVAILABLE|ECONNREFUSED|127\.0\.0\.1|grpc|breaker/i);
    }
  });

  test('every route of the portal answers 500 as documented while the services behind the gateway are down', async () => {
    await world.stack.stop('webhook');
    const headers = { authorization: `Bearer ${portalToken}` };
    const answers: unknown[] = [];
    for (const route of portalRoutes().filter(({ path }) => !GATEWAY_ALONE.test(path))) {
      const { status, code, text } = await ask(route, portalIds, headers);
      if (status !== 500 || code !== 'internal_error') answers.push([route.method, route.path, status, text]);
    }
    expect(answers).toEqual([]);
    const provoked = portalRoutes().flatMap(({ method, path, statuses }) =>
      statuses
        .filter((status) => status >= 400 && status !== 429 && !(status === 500 && GATEWAY_ALONE.test(path)))
        .map((status) => `${method} ${path} ${status}` as RouteStatus),
    );
    expect(provoked.filter((entry) => !world.contract.ownSeen.has(entry))).toEqual([]);
  });

  test('the tests have seen every documented status and every documented code', () => {
    const unseen = EXPECTED.filter((entry) => !world.contract.seen.has(entry));
    expect(unseen).toEqual([]);
    // Every code that the document allows for a route, and no other: each response was checked
    // against its schema.
    const { documentedCodes, seenCodes } = world.contract;
    expect([...documentedCodes].filter((code) => !seenCodes.has(code))).toEqual([]);
  });
});

/**
 * Makes an item for each parameter of the portal's paths. The challenge refuses a score above
 * 1,000.
 */
async function makePortalItems(world: World, { portal, program }: Developer): Promise<PathIds> {
  const { id: challengeId } = await world.newChallenge({ score_max: 1000 }, program);
  const round = await world.newRound({}, program);
  const { ref: playerRef } = await world.newPlayer({ partner: program.test });
  const entry = { challenge_id: challengeId, player_ref: playerRef };
  const { body: attempt, headers } = expectStatus(201, await program.test.createAttempt(entry));
  const { id: endpointId } = expectStatus(201, await portal.createEndpoint({ url: 'https://127.0.0.1:9443/' })).body;
  const { delivery_id: deliveryId } = expectStatus(202, await portal.sendTest(endpointId)).body;
  const integration = await createIntegrations(program.test).create({ transport: 'push_webhook' });
  return {
    programId: program.id,
    challengeId,
    tournamentId: round.tournament_id,
    roundId: round.id,
    attemptId: attempt.id,
    endpointId,
    deliveryId,
    integrationId: expectStatus(201, integration).body.id,
    requestId: headers['x-request-id'] ?? '',
    playerRef,
  };
}
