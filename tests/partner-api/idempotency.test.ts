import { randomUUID } from 'node:crypto';
import type { Attempt } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectError, expectStatus, type Player, startWorld, type World } from '../world.ts';

const TAKEOVER_SECONDS = 3;

describe('the Idempotency-Key header', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      failpoints: true,
      environment: { gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: String(TAKEOVER_SECONDS) } },
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function newEntry(funds = '100.00', fee = '1.00'): Promise<{ player: Player; challengeId: string }> {
    const challenge = await world.newChallenge({ fee });
    return { player: await world.newPlayer({ funds }), challengeId: challenge.id };
  }

  /** POST /v1/attempts with the body as text, so that the test sets key order and white space. */
  function create(raw: string, key: string, partner = world.partner): Promise<Answer<Attempt>> {
    return partner.send('POST', '/v1/attempts', { raw, headers: { 'idempotency-key': key } });
  }

  function expectReplay(replay: Answer<unknown>, original: Answer<unknown>): void {
    expect({ status: replay.status, text: replay.text }).toEqual({ status: original.status, text: original.text });
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(original.headers['idempotency-replayed']).toBeUndefined();
  }

  describe('a missing or malformed Idempotency-Key', () => {
    test.each([
      ['missing', undefined],
      ['empty', ''],
      ['256 characters long', 'k'.repeat(256)],
    ])('an Idempotency-Key that is %s is 400 on both routes', async (_what, key) => {
      const { player, challengeId } = await newEntry();
      const attempt = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref });
      const before = await world.digest();
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
      const body = { challenge_id: challengeId, player_ref: player.ref };
      expectError(400, 'invalid_request', await world.partner.send('POST', '/v1/attempts', { body, headers }));
      const outcome = { body: { score: 1 }, headers };
      expectError(
        400,
        'invalid_request',
        await world.partner.send('POST', `/v1/attempts/${attempt.body.id}/outcome`, outcome),
      );
      expect(await world.digest()).toEqual(before);
    });

    test('an Idempotency-Key of 255 characters is accepted', async () => {
      const { player, challengeId } = await newEntry();
      const key = 'k'.repeat(255);
      expectStatus(201, await world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref }, key));
    });
  });

  describe('an Idempotency-Key that is used again', () => {
    test('a repeated create is replayed byte for byte, charges nothing and takes no second slot', async () => {
      const challenge = await world.newChallenge({ daily_attempt_cap: 1 });
      const player = await world.newPlayer();
      const key = randomUUID();
      const body = { challenge_id: challenge.id, player_ref: player.ref, metadata: { b: 1, a: [1, { d: 1, c: 2 }] } };
      const first = expectStatus(201, await world.partner.createAttempt(body, key));
      for (let count = 0; count < 3; count += 1) expectReplay(await world.partner.createAttempt(body, key), first);
      expect(await world.balance(player)).toBe('99.00');
    });

    test('a repeated outcome is replayed byte for byte and pays nothing again', async () => {
      const { player, challengeId } = await newEntry();
      const attempt = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref });
      const key = randomUUID();
      const body = { score: 100, evidence: { b: 1, a: 2 } };
      const first = expectStatus(200, await world.partner.reportOutcome(attempt.body.id, body, key));
      for (let count = 0; count < 3; count += 1) {
        expectReplay(await world.partner.reportOutcome(attempt.body.id, body, key), first);
      }
      expect(await world.balance(player)).toBe('104.00');
    });

    test('a repeated create is replayed unchanged, even after the attempt was settled', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      const first = expectStatus(201, await world.partner.createAttempt(body, key));
      expectStatus(200, await world.partner.reportOutcome(first.body.id, { score: 100 }));
      expectReplay(await world.partner.createAttempt(body, key), first);
    });

    test('another key order, white space or number spelling is the same body: a replay', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const first = await create(
        `{"challenge_id":"${challengeId}","player_ref":"${player.ref}","metadata":{"a":1,"b":[1.0,100],"ü":"x"}}`,
        key,
      );
      expectStatus(201, first);
      const again = await create(
        ` { "metadata" : {"\\u00fc":"\\u0078", "b":[1,1e2], "a":1.0e0}, "player_ref":"${player.ref}",\n"challenge_id":"${challengeId}" }`,
        key,
      );
      expectReplay(again, first);
    });

    test('seeds of 64 bits that differ are different bodies, and one seed in two spellings is the same', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const bodyOf = (seed: string) =>
        `{"challenge_id":"${challengeId}","player_ref":"${player.ref}","metadata":{"seed":${seed}}}`;
      const first = expectStatus(201, await create(bodyOf('12345678901234567891'), key));
      expectReplay(await create(bodyOf('1.2345678901234567891E+19'), key), first);
      expectError(409, 'idempotency_key_reused', await create(bodyOf('12345678901234567892'), key));
    });

    test.each([
      ['another player', (challenge: string) => `{"challenge_id":"${challenge}","player_ref":"other"}`],
      [
        'more metadata',
        (challenge: string, ref: string) => `{"challenge_id":"${challenge}","player_ref":"${ref}","metadata":{"a":1}}`,
      ],
      [
        'another order in an array',
        (challenge: string, ref: string) =>
          `{"challenge_id":"${challenge}","player_ref":"${ref}","metadata":{"list":[2,1]}}`,
      ],
      [
        'a number that only a double would take for the same',
        (challenge: string, ref: string) =>
          `{"challenge_id":"${challenge}","player_ref":"${ref}","metadata":{"list":[1,2.0000000000000000001]}}`,
      ],
      [
        'an unknown field',
        (challenge: string, ref: string) =>
          `{"challenge_id":"${challenge}","player_ref":"${ref}","metadata":{"list":[1,2]},"extra":1}`,
      ],
    ])('a reused key is 409 with another body: %s', async (_what, other) => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const raw = `{"challenge_id":"${challengeId}","player_ref":"${player.ref}","metadata":{"list":[1,2]}}`;
      const first = expectStatus(201, await create(raw, key));
      const answer = await create(other(challengeId, player.ref), key);
      // An unknown field may be a 400 of its own; it is never a replay and never a second attempt.
      if (answer.status === 400) expectError(400, 'invalid_request', answer);
      else expectError(409, 'idempotency_key_reused', answer);
      expectReplay(await create(raw, key), first);
      expect(await world.balance(player)).toBe('99.00');
    });

    test('a reused key is 409 on another attempt: the path is part of the request', async () => {
      const { player, challengeId } = await newEntry();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      const one = await world.partner.createAttempt(body);
      const two = await world.partner.createAttempt(body);
      const key = randomUUID();
      expectStatus(200, await world.partner.reportOutcome(one.body.id, { score: 1 }, key));
      expectError(409, 'idempotency_key_reused', await world.partner.reportOutcome(two.body.id, { score: 1 }, key));
      expect(expectStatus(200, await world.partner.getAttempt(two.body.id)).body.status).toBe('open');
    });

    test('an Idempotency-Key is independent per endpoint, per program and per environment', async () => {
      const key = randomUUID();
      const other = await world.newProgram();
      const here = await world.newChallenge();
      const live = await world.newChallenge({ environment: 'live' });
      const there = await world.newChallenge({}, other);
      const player = await world.newPlayer();
      const livePlayer = await world.newPlayer({ environment: 'live' });
      const otherPlayer = await world.newPlayer({ partner: other.test });
      const ids = [
        await world.partner.createAttempt({ challenge_id: here.id, player_ref: player.ref }, key),
        await world.program.live.createAttempt({ challenge_id: live.id, player_ref: livePlayer.ref }, key),
        await other.test.createAttempt({ challenge_id: there.id, player_ref: otherPlayer.ref }, key),
      ].map((answer) => expectStatus(201, answer).body.id);
      expect(new Set(ids).size).toBe(3);
      expectStatus(200, await world.partner.reportOutcome(ids[0] ?? '', { score: 1 }, key));
    });

    test('Idempotency-Keys are compared as exact strings', async () => {
      const { player, challengeId } = await newEntry();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      const key = `Key-${randomUUID()}`;
      const first = expectStatus(201, await world.partner.createAttempt(body, key));
      const second = expectStatus(201, await world.partner.createAttempt(body, key.toLowerCase()));
      expect(second.body.id).not.toBe(first.body.id);
    });
  });

  describe('an Idempotency-Key in flight', () => {
    test('a repeat is 409 with Retry-After while the original runs, and a replay once it is done', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      world.stack.arm('gateway.create.before-call', 'delay:1500');
      const original = world.partner.createAttempt(body, key);
      await eventually(async () => world.stack.isFired('gateway.create.before-call') || undefined, 'the delay began');
      const meanwhile = await world.partner.createAttempt(body, key);
      expectError(409, 'idempotency_in_progress', meanwhile);
      expect(Number(meanwhile.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      const other = await world.partner.createAttempt({ ...body, metadata: { other: true } }, key);
      expectError(409, 'idempotency_key_reused', other);
      expectStatus(201, await original);
      expectReplay(await world.partner.createAttempt(body, key), await original);
      expect(await world.balance(player)).toBe('99.00');
    });

    test('200 parallel requests with one key charge once and have one response', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      const answers = await Promise.all(Array.from({ length: 200 }, () => world.partner.createAttempt(body, key)));
      const created = answers.filter((answer) => answer.status === 201);
      for (const answer of answers) {
        if (answer.status !== 201) expectError(409, 'idempotency_in_progress', answer);
      }
      expect(new Set(created.map((answer) => answer.text)).size).toBe(1);
      expect(created.filter((answer) => answer.headers['idempotency-replayed'] === undefined)).toHaveLength(1);
      expect(await world.balance(player)).toBe('99.00');
      expect(expectStatus(201, await world.partner.createAttempt(body, key)).text).toBe(created[0]?.text);
    });

    test('100 parallel winning outcomes with one key pay once and have one response', async () => {
      const { player, challengeId } = await newEntry();
      const attempt = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref });
      const key = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => world.partner.reportOutcome(attempt.body.id, { score: 100 }, key)),
      );
      const done = answers.filter((answer) => answer.status === 200);
      for (const answer of answers) if (answer.status !== 200) expectError(409, 'idempotency_in_progress', answer);
      expect(new Set(done.map((answer) => answer.text)).size).toBe(1);
      expect(await world.balance(player)).toBe('104.00');
    });
  });

  describe('an Idempotency-Key whose process died', () => {
    test('a key whose process died is in flight until the takeover, then runs as the same operation', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      world.stack.arm('gateway.create.after-call', 'kill');
      const died = Date.now();
      const gone = world.stack.onExit('gateway');
      expect((await world.partner.createAttempt(body, key)).status).toBe(0);
      await gone;
      await world.stack.restart('gateway');

      const early = await world.partner.createAttempt(body, key);
      if (Date.now() - died < TAKEOVER_SECONDS * 900) {
        expectError(409, 'idempotency_in_progress', early);
        const other = await world.partner.createAttempt({ ...body, metadata: { other: true } }, key);
        expectError(409, 'idempotency_key_reused', other);
      }
      const created = await eventually(async () => {
        const answer = await world.partner.createAttempt(body, key);
        return answer.status === 201 ? answer : undefined;
      }, 'the key was taken over');
      expect(Date.now() - died).toBeGreaterThanOrEqual(TAKEOVER_SECONDS * 900);
      expect(await world.balance(player)).toBe('99.00');
      const rows = await world.stack
        .database('wallet')
        .query(`select 1 from transfers where kind = 'fee' and attempt_id = $1`, [created.body.id]);
      expect(rows).toHaveLength(1);
    });

    test('a takeover keeps the operation id: it answers the attempt that the dead process made', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      world.stack.arm('gateway.create.after-call', 'kill');
      const gone = world.stack.onExit('gateway');
      expect((await world.partner.createAttempt(body, key)).status).toBe(0);
      await gone;
      const made = await world.stack
        .database('challenge')
        .query<{ id: string }>('select id from attempts where player_ref = $1', [player.ref]);
      expect(made).toHaveLength(1);
      await world.stack.restart('gateway');
      const created = await eventually(async () => {
        const answer = await world.partner.createAttempt(body, key);
        return answer.status === 201 ? answer : undefined;
      }, 'the key was taken over');
      expect(created.body.id).toBe(made[0]?.id);
    });
  });

  describe('an Idempotency-Key after a failure', () => {
    test('after a 402 the same request succeeds with its key once there is money', async () => {
      const { player, challengeId } = await newEntry('0.50');
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      expectError(402, 'insufficient_funds', await world.partner.createAttempt(body, key));
      const deposit = { environment: 'test', amount: '10.00', reference: randomUUID() };
      expectStatus(201, await world.operator.deposit(player.accountId, deposit));
      const created = expectStatus(201, await world.partner.createAttempt(body, key));
      expect(created.headers['idempotency-replayed']).toBeUndefined();
      expect(await world.balance(player)).toBe('9.50');
    });

    test.each([
      ['400', (challengeId: string) => ({ challenge_id: challengeId, player_ref: '' })],
      ['404', () => ({ challenge_id: randomUUID(), player_ref: 'a' })],
      ['402', (challengeId: string) => ({ challenge_id: challengeId, player_ref: 'unlinked' })],
    ])('a key is fresh after %s, for another body too', async (status, failing) => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      expectStatus(Number(status), await world.partner.createAttempt(failing(challengeId), key));
      const body = { challenge_id: challengeId, player_ref: player.ref };
      expectStatus(201, await world.partner.createAttempt(body, key));
      expect(await world.balance(player)).toBe('99.00');
    });

    test('a key is fresh after 409 and 403', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      expectStatus(200, await world.operator.updateChallenge(challengeId, { status: 'suspended' }));
      expectError(409, 'challenge_not_available', await world.partner.createAttempt(body, key));
      expectStatus(200, await world.operator.updateChallenge(challengeId, { status: 'live' }));
      expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: true }));
      expectError(403, 'blocked', await world.partner.createAttempt(body, key));
      expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: false }));
      expectStatus(201, await world.partner.createAttempt(body, key));
      expect(await world.balance(player)).toBe('99.00');
    });

    test.each([
      'gateway.create.before-call',
      'gateway.create.after-call',
      'challenge.create.before-commit',
      'challenge.create.after-commit',
      'challenge.create.after-charge',
      'wallet.charge.after-commit',
    ])('a key is retried as the same operation after a 500 from %s', async (failpoint) => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      world.stack.arm(failpoint, 'throw');
      const first = await world.partner.createAttempt(body, key);
      expect(world.stack.disarm(failpoint)).toBe(true);
      if (first.status !== 201) {
        expectError(500, 'internal_error', first);
        expect(first.text).not.toMatch(/failpoint|Error:|at .*\.ts|select|insert/i);
      }
      const retry = expectStatus(201, await world.partner.createAttempt(body, key));
      if (first.status === 201) expect(retry.text).toBe(first.text);
      expect(await world.balance(player)).toBe('99.00');
    });

    test('after a 500 another body under the same key is another operation', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
      world.stack.arm('gateway.create.before-call', 'throw');
      expectError(500, 'internal_error', await world.partner.createAttempt(body, key));
      const other = await world.partner.createAttempt({ ...body, metadata: { other: true } }, key);
      expect(expectStatus(201, other).body.metadata).toEqual({ other: true });
      expectError(409, 'idempotency_key_reused', await world.partner.createAttempt(body, key));
      expect(await world.balance(player)).toBe('99.00');
    });

    test('a create answers 500 quickly while the challenge service is down, and succeeds with the same key afterwards', async () => {
      const { player, challengeId } = await newEntry();
      const key = randomUUID();
      const body = { challenge_id: challengeId, player_ref: player.ref };
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
  });

  test('the audit is good after retries with Idempotency-Keys', () => world.expectAuditOk());
});
