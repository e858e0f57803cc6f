import { randomUUID } from 'node:crypto';
import type { Attempt } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, liveTerms, type SharedWorld } from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('attempts in challenges: POST /v1/attempts and GET /v1/attempts/{attempt_id}', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('a create opens an attempt and charges the fee', async () => {
    const challenge = await world.newChallenge({ fee: '2.50' });
    const player = await world.newPlayer({ funds: '10.00' });
    const metadata = { match: 'a-17', ünï: [1, 2.5, null, true, { deep: '選手' }] };
    const answer = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref, metadata }),
    );
    expect(answer.body).toEqual({
      id: expect.stringMatching(UUID),
      challenge_id: challenge.id,
      tournament_round_id: null,
      player_ref: player.ref,
      status: 'open',
      fee_charged: '2.50',
      created_at: expect.stringMatching(TIMESTAMP),
      metadata,
      outcome: null,
    });
    expect(Math.abs(Date.now() - Date.parse(answer.body.created_at))).toBeLessThan(10_000);
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
    expect(await world.balance(player)).toBe('7.50');
    expect(expectStatus(200, await world.partner.getAttempt(answer.body.id)).body).toEqual(answer.body);
  });

  test('an attempt that was created without metadata has {} as its metadata', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    expect(expectStatus(201, answer).body.metadata).toEqual({});
  });

  test('a metadata object is stored unchanged, even with hostile keys', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const raw = `{"challenge_id":"${challenge.id}","player_ref":"${player.ref}","metadata":{"__proto__":{"a":1},"constructor":"x","toString":null,"":0}}`;
    const answer = expectStatus(
      201,
      await world.partner.send<{ id: string }>('POST', '/v1/attempts', {
        raw,
        headers: { 'idempotency-key': randomUUID() },
      }),
    );
    const read = expectStatus(200, await world.partner.getAttempt(answer.body.id));
    for (const text of [answer.text, read.text]) {
      expect(text).toContain('"__proto__":{"a":1}');
      expect(text).toContain('"constructor":"x"');
    }
  });

  test('an attempt is free while the challenge calibrates', async () => {
    const terms = liveTerms({ status: 'calibrating' });
    delete terms.threshold;
    const challenge = expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body;
    const player = await world.newPlayer({ funds: '0.00' });
    for (const ref of [player.ref, randomUUID()]) {
      const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
      expect(expectStatus(201, answer).body).toMatchObject({ status: 'open', fee_charged: '0.00' });
    }
  });

  test('a create without enough money is 402 and charges nothing', async () => {
    const challenge = await world.newChallenge({ fee: '5.00' });
    const poor = await world.newPlayer({ funds: '4.99' });
    for (const ref of [randomUUID(), poor.ref]) {
      const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
      expectError(402, 'insufficient_funds', answer);
    }
    expect(await world.balance(poor)).toBe('4.99');
  });

  test('a create may charge the whole balance of the player', async () => {
    const challenge = await world.newChallenge({ fee: '5.00' });
    const player = await world.newPlayer({ funds: '5.00' });
    expectStatus(201, await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
    expect(await world.balance(player)).toBe('0.00');
  });

  test.each([
    ['self-excluded', {}, { self_excluded_until: '2999-01-01T00:00:00.000Z' }],
    ['blocked', {}, { blocked: true }],
    ['under age', { date_of_birth: '2015-01-01' }, {}],
    ['below the verification level', { verification_level: 0 }, {}],
  ] as const)('a create for a player who is %s is 403, and charges nothing', async (_what, account, changes) => {
    const challenge = await world.newChallenge({ required_verification_level: 1 });
    const player = await world.newPlayer({ account });
    if (Object.keys(changes).length > 0) {
      expectStatus(200, await world.operator.updateAccount(player.accountId, changes));
    }
    const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    expectError(403, 'blocked', answer);
    expect(await world.balance(player)).toBe('100.00');
  });

  test('a player whose self-exclusion is over may create attempts again', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const past = { self_excluded_until: '2020-01-01T00:00:00.000Z' };
    expectStatus(200, await world.operator.updateAccount(player.accountId, past));
    expectStatus(201, await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
  });

  test('the jurisdiction of a player is checked only in live', async () => {
    const live = await world.newChallenge({ environment: 'live', jurisdictions: ['US-NY'] });
    const sandbox = await world.newChallenge({ environment: 'test', jurisdictions: ['US-NY'] });
    const player = await world.newPlayer({ environment: 'live' });
    const tester = await world.newPlayer({ funds: '5.00' });
    expectError(
      403,
      'blocked',
      await world.program.live.createAttempt({ challenge_id: live.id, player_ref: player.ref }),
    );
    expectStatus(201, await world.partner.createAttempt({ challenge_id: sandbox.id, player_ref: tester.ref }));
    expectStatus(200, await world.operator.updateAccount(player.accountId, { jurisdiction: 'US-NY' }));
    expectStatus(201, await world.program.live.createAttempt({ challenge_id: live.id, player_ref: player.ref }));
    expect(await world.balance(player, 'live')).toBe('99.00');
    expect(await world.balance(tester)).toBe('4.00');
  });

  test('an insider may play a live challenge', async () => {
    const challenge = await world.newChallenge({ environment: 'live' });
    const player = await world.newPlayer({ environment: 'live' });
    expectStatus(
      201,
      await world.operator.send('POST', `/programs/${world.program.id}/insiders`, {
        body: { account_id: player.accountId },
      }),
    );
    expectStatus(201, await world.program.live.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
  });

  test.each(['suspended', 'closed'])('a create in a %s challenge is 409', async (status) => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    expectStatus(200, await world.operator.updateChallenge(challenge.id, { status }));
    const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    expectError(409, 'challenge_not_available', answer);
    expect(await world.balance(player)).toBe('100.00');
  });

  test('a challenge that an operator reinstates accepts attempts again', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    expectStatus(200, await world.operator.updateChallenge(challenge.id, { status: 'suspended' }));
    expectStatus(200, await world.operator.updateChallenge(challenge.id, { status: 'live' }));
    expectStatus(201, await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
  });

  test.each([
    [1, '25.00', '25.01'],
    [2, '250.00', '250.01'],
    [3, '2500.00', '2500.01'],
  ])('a create with a prize above the ceiling of tier %i is 409', async (tier, allowed, tooHigh) => {
    const player = await world.newPlayer();
    const good = await world.newChallenge({ integrity_tier: tier, prize: allowed });
    const bad = await world.newChallenge({ integrity_tier: tier, prize: tooHigh });
    expectStatus(201, await world.partner.createAttempt({ challenge_id: good.id, player_ref: player.ref }));
    const answer = await world.partner.createAttempt({ challenge_id: bad.id, player_ref: player.ref });
    expectError(409, 'challenge_not_available', answer);
  });

  test('a create by a player who has claimed the challenge is 409', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    const attempt = expectStatus(201, await world.partner.createAttempt(body));
    expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 100 }));
    expectError(409, 'challenge_already_claimed', await world.partner.createAttempt(body));
    expect(await world.balance(player)).toBe('104.00');
  });

  test('a rung is locked until its parent is claimed', async () => {
    const parent = await world.newChallenge();
    const rung = await world.newChallenge({ parent_challenge_id: parent.id });
    expect(rung).toMatchObject({ rung: 2, parent_challenge_id: parent.id });
    const player = await world.newPlayer();
    const onRung = { challenge_id: rung.id, player_ref: player.ref };
    expectError(409, 'rung_locked', await world.partner.createAttempt(onRung));
    const attempt = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: parent.id, player_ref: player.ref }),
    );
    expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 99.9 }));
    expectError(409, 'rung_locked', await world.partner.createAttempt(onRung));
    const won = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: parent.id, player_ref: player.ref }),
    );
    expectStatus(200, await world.partner.reportOutcome(won.body.id, { score: 100 }));
    expectStatus(201, await world.partner.createAttempt(onRung));
  });

  test('creates are refused at the daily cap, which does not count refunded attempts', async () => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 2 });
    const player = await world.newPlayer();
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    const first = expectStatus(201, await world.partner.createAttempt(body));
    expectStatus(201, await world.partner.createAttempt(body));
    expectError(409, 'attempt_cap_reached', await world.partner.createAttempt(body));
    expectStatus(200, await world.partner.expireAttempt(first.body.id));
    expectStatus(201, await world.partner.createAttempt(body));
    expectError(409, 'attempt_cap_reached', await world.partner.createAttempt(body));
    expect(await world.balance(player)).toBe('98.00');
  });

  test('free attempts do not count against the daily cap', async () => {
    const terms = liveTerms({ status: 'calibrating', daily_attempt_cap: 1 });
    delete terms.threshold;
    const challenge = expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body;
    const ref = randomUUID();
    for (let count = 0; count < 4; count += 1) {
      expectStatus(201, await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref }));
    }
  });

  test('a create in an unknown challenge or round is 404', async () => {
    const player = await world.newPlayer();
    expectError(
      404,
      'not_found',
      await world.partner.createAttempt({ challenge_id: randomUUID(), player_ref: player.ref }),
    );
    expectError(
      404,
      'not_found',
      await world.partner.send('POST', '/v1/attempts', {
        body: { tournament_round_id: randomUUID(), player_ref: player.ref },
        headers: { 'idempotency-key': randomUUID() },
      }),
    );
  });

  test('unknown members of a body or a query are ignored', async () => {
    const { id } = await world.newChallenge();
    const { ref } = await world.newPlayer();
    const body = { challenge_id: id, player_ref: ref, is_win: true, threshold: 0, attempt: { prize: '9.00' } };
    const created = await world.partner.send<Attempt>('POST', '/v1/attempts?player_ref=a&player_ref=b&x=1', {
      body,
      headers: { 'idempotency-key': randomUUID() },
    });
    const attempt = expectStatus(201, created).body;
    expect(attempt).toMatchObject({ challenge_id: id, player_ref: ref, status: 'open' });
    expect(attempt).not.toHaveProperty('is_win');
    const read = await world.partner.send<Attempt>('GET', `/v1/attempts/${attempt.id}?x=1&x=2`);
    expect(expectStatus(200, read).body).toEqual(attempt);
    expectStatus(200, await world.partner.send('GET', `/v1/challenges?player_ref=${ref}&unknown=1`));
  });

  test('a challenge id in upper case names the same challenge', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const answer = await world.partner.createAttempt({
      challenge_id: challenge.id.toUpperCase(),
      player_ref: player.ref,
    });
    expect(expectStatus(201, answer).body.challenge_id).toBe(challenge.id);
  });

  test('reads of unknown and malformed attempt ids are 404', async () => {
    for (const id of [randomUUID(), 'nonsense', '123', '%00', 'a'.repeat(300), `${randomUUID()}0`]) {
      expectError(404, 'not_found', await world.partner.send('GET', `/v1/attempts/${id}`));
    }
  });

  test('the audit finds no violation after attempts in challenges', () => world.expectAuditOk());
});
