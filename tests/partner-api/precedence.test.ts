import { randomUUID } from 'node:crypto';
import type { Round } from '@laurel/sdk';
import { signIn } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  eventually,
  expectError,
  expectStatus,
  insideOneWindow,
  startWorld,
  WITH_TIEBREAK,
  type World,
} from '../world.ts';

const LIMIT = 60;

/**
 * The order of checks is 401, 429, 400, idempotency 409, 404, state 409, 403, 402. Each request
 * here violates two rules, and the rule that comes first decides the response.
 */
describe('the order of checks', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ environment: { gateway: { RATE_LIMIT_PER_MINUTE: String(LIMIT) } } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('401 comes before 400 and before an unknown path', async () => {
    const headers = { 'x-api-key': 'sk_test_nonsense' };
    expectError(401, 'unauthorized', await world.http.send('POST', '/v1/attempts', { raw: '{', headers }));
    expectError(
      401,
      'unauthorized',
      await world.http.send('POST', '/v1/attempts', { raw: 'x'.repeat(300_000), headers }),
    );
    expectError(401, 'unauthorized', await world.http.send('GET', '/v1/nowhere', { headers }));
  });

  test('401 comes before 429, which comes before 400, 404 and a replay', async () => {
    const { program, statuses } = await insideOneWindow(world, async (program) => {
      const challenge = await world.newChallenge({}, program);
      const player = await world.newPlayer({ partner: program.test });
      const key = randomUUID();
      const body = { challenge_id: challenge.id, player_ref: player.ref };
      await program.test.createAttempt(body, key);
      await Promise.all(Array.from({ length: LIMIT }, () => program.test.listChallenges('a')));
      const refused = [
        await program.test.send('POST', '/v1/attempts', { raw: '{' }),
        await program.test.send('GET', '/v1/nowhere'),
        await program.test.getAttempt(randomUUID()),
        await program.test.createAttempt(body, key),
      ];
      return { program, statuses: refused.map((answer) => answer.status) };
    });
    expect(statuses).toEqual([429, 429, 429, 429]);
    expectStatus(200, await world.operator.updateProgram(program.id, { status: 'suspended' }));
    // For a second a gateway may repeat the 429 from its cache; after that the response is 401.
    await eventually(
      async () => {
        const answer = await program.test.listChallenges('a');
        if (answer.status === 429) return undefined;
        expectError(401, 'unauthorized', answer);
        return true;
      },
      'the key is refused as unknown',
      3_000,
    );
  });

  test('400 comes before the idempotency 409 and before 404', async () => {
    const program = await world.newProgram();
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    const key = randomUUID();
    expectStatus(201, await program.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }, key));
    expectError(
      400,
      'invalid_request',
      await program.test.createAttempt({ challenge_id: challenge.id, player_ref: '' }, key),
    );
    expectError(
      400,
      'invalid_request',
      await program.test.send('POST', `/v1/attempts/${randomUUID()}/outcome`, { body: { score: 1 } }),
    );
    expectError(
      400,
      'invalid_request',
      await program.test.send('POST', `/v1/attempts/${randomUUID()}/outcome`, {
        body: { score: 'high' },
        headers: { 'idempotency-key': randomUUID() },
      }),
    );
  });

  test('the idempotency 409 comes before 404 and before a state 409', async () => {
    const program = await world.newProgram();
    const challenge = await world.newChallenge({}, program);
    const suspended = await world.newChallenge({}, program);
    expectStatus(200, await world.operator.updateChallenge(suspended.id, { status: 'suspended' }));
    const player = await world.newPlayer({ partner: program.test });
    const key = randomUUID();
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    const attempt = expectStatus(201, await program.test.createAttempt(body, key));
    for (const challenge_id of [randomUUID(), suspended.id]) {
      expectError(409, 'idempotency_key_reused', await program.test.createAttempt({ ...body, challenge_id }, key));
    }
    const outcomeKey = randomUUID();
    expectStatus(200, await program.test.reportOutcome(attempt.body.id, { score: 1 }, outcomeKey));
    expectError(
      409,
      'idempotency_key_reused',
      await program.test.reportOutcome(attempt.body.id, { score: 2 }, outcomeKey),
    );
    expectError(
      409,
      'idempotency_key_reused',
      await program.test.reportOutcome(randomUUID(), { score: 1 }, outcomeKey),
    );
  });

  test('404 comes before a state 409, 403 and 402', async () => {
    const program = await world.newProgram();
    const other = await world.newProgram();
    const suspended = await world.newChallenge({}, other);
    expectStatus(200, await world.operator.updateChallenge(suspended.id, { status: 'suspended' }));
    const blocked = await world.newPlayer({ partner: program.test, funds: '0.00', account: { verification_level: 0 } });
    expectStatus(200, await world.operator.updateAccount(blocked.accountId, { blocked: true }));
    for (const challenge_id of [suspended.id, randomUUID()]) {
      expectError(404, 'not_found', await program.test.createAttempt({ challenge_id, player_ref: blocked.ref }));
    }
  });

  test('a state 409 comes before 403 and 402', async () => {
    const program = await world.newProgram();
    const suspended = await world.newChallenge({}, program);
    expectStatus(200, await world.operator.updateChallenge(suspended.id, { status: 'suspended' }));
    const parent = await world.newChallenge({}, program);
    const rung = await world.newChallenge({ parent_challenge_id: parent.id }, program);
    const capped = await world.newChallenge({ daily_attempt_cap: 1 }, program);
    const claimed = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test, funds: '2.00' });
    const on = (challenge_id: string) => program.test.createAttempt({ challenge_id, player_ref: player.ref });
    expectStatus(201, await on(capped.id));
    const won = expectStatus(201, await on(claimed.id));
    expectStatus(200, await world.operator.updateAccount(player.accountId, { under_investigation: true }));
    expectStatus(200, await program.test.reportOutcome(won.body.id, { score: 100 }));
    // The player is blocked and has no money from here on.
    expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: true }));
    expect(await world.balance(player)).toBe('0.00');
    expectError(409, 'challenge_not_available', await on(suspended.id));
    expectError(409, 'rung_locked', await on(rung.id));
    expectError(409, 'attempt_cap_reached', await on(capped.id));
    expectError(409, 'challenge_already_claimed', await on(claimed.id));
    const ofUnknownPlayer = { challenge_id: suspended.id, player_ref: randomUUID() };
    expectError(409, 'challenge_not_available', await program.test.createAttempt(ofUnknownPlayer));
  });

  test('403 comes before 402', async () => {
    const program = await world.newProgram();
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test, funds: '0.00' });
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    expectError(402, 'insufficient_funds', await program.test.createAttempt(body));
    expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: true }));
    expectError(403, 'blocked', await program.test.createAttempt(body));
  });

  test('the 409 of a settled attempt comes before the 422 of an implausible score', async () => {
    const program = await world.newProgram();
    const challenge = await world.newChallenge({ score_min: 0, score_max: 1000 }, program);
    const player = await world.newPlayer({ partner: program.test });
    const attempt = await program.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    expectStatus(200, await program.test.reportOutcome(attempt.body.id, { score: 1 }));
    expectError(409, 'attempt_already_settled', await program.test.reportOutcome(attempt.body.id, { score: -1 }));
  });

  describe('the order of checks in rounds', () => {
    /**
     * A program whose player is blocked, has no money, and has bought the one attempt that each
     * round's cap allows.
     */
    async function blockedEntrant() {
      const program = await world.newProgram();
      const player = await world.newPlayer({ partner: program.test, funds: '3.00' });
      const on = (tournament_round_id: string, key?: string) =>
        program.test.createAttempt({ tournament_round_id, player_ref: player.ref }, key);
      const rounds: Round[] = [];
      const attemptIds: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        const round = await world.newRound({ ...WITH_TIEBREAK, attempt_cap: 1 }, program);
        rounds.push(round);
        attemptIds.push(expectStatus(201, await on(round.id)).body.id);
      }
      expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: true }));
      return { program, player, on, rounds, attemptIds };
    }

    test('an entry checks 404, entries_closed, the cap, 403 and 402 in this order', async () => {
      const { program, player, on, rounds } = await blockedEntrant();
      const other = await world.newProgram();
      const [capped, closed, over] = rounds.map(({ id }) => id) as [string, string, string];
      const foreign = await world.newRound({}, other);
      expectStatus(200, await other.test.closeRound(foreign.id));
      expectStatus(200, await program.test.closeEntries(closed));
      expectStatus(200, await program.test.closeRound(over));
      expectError(404, 'not_found', await on(foreign.id));
      expectError(409, 'entries_closed', await on(closed));
      expectError(409, 'entries_closed', await on(over));
      expectError(409, 'attempt_cap_reached', await on(capped));
      const fresh = await world.newRound({ entry_fee: '50.00' }, program);
      expectError(403, 'blocked', await on(fresh.id));
      expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: false }));
      expectError(402, 'insufficient_funds', await on(fresh.id));
      // An unknown ref changes nothing: the state of the round comes first.
      const ofUnknownPlayer = { tournament_round_id: closed, player_ref: randomUUID() };
      expectError(409, 'entries_closed', await program.test.createAttempt(ofUnknownPlayer));
    });

    test('an entry checks 400, the idempotency 409, 404 and a state 409 in this order', async () => {
      const { program, player, on, rounds } = await blockedEntrant();
      expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: false }));
      const money = { environment: 'test', amount: '1.00', reference: randomUUID() };
      expectStatus(201, await world.operator.deposit(player.accountId, money));
      const fresh = await world.newRound({}, program);
      const key = randomUUID();
      expectStatus(201, await on(fresh.id, key));
      expectError(400, 'invalid_request', await on('nonsense', key));
      expectStatus(200, await program.test.closeEntries(rounds[0]?.id ?? ''));
      for (const id of [randomUUID(), rounds[0]?.id ?? '', rounds[1]?.id ?? '']) {
        expectError(409, 'idempotency_key_reused', await on(id, key));
      }
    });

    test('a score in a round checks 400, 404, the end of the attempt and the tiebreak in this order', async () => {
      const { program, rounds, attemptIds } = await blockedEntrant();
      const other = await world.newProgram();
      const [settled, unscored, running] = attemptIds as [string, string, string];
      expectStatus(200, await program.test.reportOutcome(settled, { score: 1, tiebreak: 1 }));
      expectStatus(200, await program.test.closeRound(rounds[0]?.id ?? ''));
      expectStatus(200, await program.test.closeRound(rounds[1]?.id ?? ''));
      const bad = { body: { score: 1, tiebreak: 'few' }, headers: { 'idempotency-key': randomUUID() } };
      expectError(400, 'invalid_request', await program.test.send('POST', `/v1/attempts/${unscored}/outcome`, bad));
      expectError(404, 'not_found', await other.test.reportOutcome(unscored, { score: 1 }));
      expectError(404, 'not_found', await other.test.reportOutcome(running, { score: 1 }));
      expectError(409, 'attempt_already_settled', await program.test.reportOutcome(settled, { score: 1 }));
      expectError(409, 'round_closed', await program.test.reportOutcome(unscored, { score: 1 }));
      expectError(422, 'tiebreak_required', await program.test.reportOutcome(running, { score: 1 }));
    });

    test('a leaderboard checks 401 and 400 before 404', async () => {
      const path = `/v1/tournaments/rounds/${randomUUID()}/leaderboard?player_ref=a&player_ref=b`;
      expectStatus(401, await world.http.send('GET', path));
      const program = await world.newProgram();
      expectError(400, 'invalid_request', await program.test.send('GET', path));
    });
  });

  describe('the order of checks in the portal and the sandbox', () => {
    const NOWHERE = 'https://127.0.0.1:9443/';

    test('a sign-in checks 400, 429 and the password in this order', async () => {
      const { email, password } = await world.newDeveloper();
      const guesses = Array.from({ length: 5 }, () => signIn(world.http, { email, password: 'wrong' }));
      for (const answer of await Promise.all(guesses)) expectError(401, 'unauthorized', answer);
      const path = '/api/portal/session';
      expectError(400, 'invalid_request', await world.http.send('POST', path, { raw: '{' }));
      expectError(400, 'invalid_request', await world.http.send('POST', path, { body: { email } }));
      expectStatus(429, await signIn(world.http, { email, password: 'wrong' }));
      expectStatus(429, await signIn(world.http, { email, password }));
    });

    test('the portal checks 401, 403, 400 and 404 in this order', async () => {
      const { portal } = await world.newDeveloper();
      const foreignSite = { 'sec-fetch-site': 'cross-site' };
      const cookie = { cookie: `laurel_session=${portal.token}` };
      for (const [method, path] of [
        ['POST', '/api/portal/webhook-endpoints'],
        ['PATCH', `/api/portal/webhook-endpoints/${randomUUID()}`],
        ['POST', '/api/portal/programs/nonsense/test-key'],
        ['POST', '/api/portal/nowhere'],
      ] as const) {
        expectError(401, 'unauthorized', await world.http.send(method, path, { raw: '{', headers: foreignSite }));
        const headers = { ...cookie, ...foreignSite };
        expectError(403, 'forbidden', await world.http.send(method, path, { raw: '{', headers }));
      }
      for (const id of [randomUUID(), 'nonsense']) {
        const path = `/webhook-endpoints/${id}`;
        expectError(400, 'invalid_request', await portal.send('PATCH', path, { body: {} }));
        expectError(400, 'invalid_request', await portal.send('PATCH', path, { body: { active: 1 } }));
        expectError(404, 'not_found', await portal.send('PATCH', path, { body: { active: true } }));
        expectError(400, 'invalid_request', await portal.send('GET', `${path}/deliveries?limit=0`));
        expectError(404, 'not_found', await portal.send('GET', `${path}/deliveries`));
      }
      const unknown = { url: NOWHERE, program_id: randomUUID() };
      expectError(
        400,
        'invalid_request',
        await portal.send('POST', '/webhook-endpoints', { body: { ...unknown, url: 5 } }),
      );
      expectError(404, 'not_found', await portal.send('POST', '/webhook-endpoints', { body: unknown }));
    });

    test('the portal and the sandbox check 400 and 404 before a state 409', async () => {
      const owner = await world.newDeveloper();
      const other = await world.newDeveloper();
      const created = await Promise.all(
        Array.from({ length: 20 }, () => owner.portal.createEndpoint({ url: NOWHERE })),
      );
      const { id } = expectStatus(201, created[0] as (typeof created)[0]).body;
      expectStatus(200, await owner.portal.updateEndpoint(id, { active: false }));
      expectError(409, 'conflict', await owner.portal.createEndpoint({ url: NOWHERE }));
      expectError(400, 'invalid_request', await owner.portal.createEndpoint({ url: 'https://10.0.0.1/' }));
      expectError(404, 'not_found', await owner.portal.createEndpoint({ url: NOWHERE, program_id: other.program.id }));
      expectError(409, 'conflict', await owner.portal.sendTest(id));
      expectError(404, 'not_found', await other.portal.sendTest(id));
    });

    test('a retry of a delivery checks 401, 404 and a state 409 in this order', async () => {
      const owner = await world.newDeveloper();
      const hook = await world.newReceiver(owner);
      const challenge = await world.newChallenge({}, owner.program);
      const player = await world.newPlayer({ partner: owner.program.test });
      const entry = { challenge_id: challenge.id, player_ref: player.ref };
      const { id } = expectStatus(201, await owner.program.test.createAttempt(entry)).body;
      expectStatus(200, await owner.program.test.reportOutcome(id, { score: 1 }));
      const { deliveryId } = await hook.event('attempt.settled', id);
      await hook.delivery(deliveryId);
      const path = `/api/sandbox/webhook-deliveries/${deliveryId}/retry-now`;
      expectError(409, 'conflict', await owner.program.test.send('POST', path));
      expectError(404, 'not_found', await world.partner.send('POST', path));
      expectError(401, 'unauthorized', await owner.program.live.send('POST', path));
      expectError(401, 'unauthorized', await world.program.live.send('POST', path.replace(deliveryId, 'nonsense')));
    });
  });

  test('the audit finds no violation after the requests that violate two rules', () => world.expectAuditOk());
});
