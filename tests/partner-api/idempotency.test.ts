/**
 * The effect of an Idempotency-Key on money, with the real contest services;
 * services/gateway/src/routes/v1/idempotency-key.test.ts tests each rule of the header.
 */
import { randomUUID } from 'node:crypto';
import type { Answer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type Player, type SharedWorld } from '../world.ts';

describe('the Idempotency-Key header', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function newEntry(funds = '100.00'): Promise<{ player: Player; challengeId: string }> {
    const challenge = await world.newChallenge();
    return { player: await world.newPlayer({ funds }), challengeId: challenge.id };
  }

  function expectReplay(replay: Answer<unknown>, original: Answer<unknown>): void {
    expect({ status: replay.status, text: replay.text }).toEqual({ status: original.status, text: original.text });
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(original.headers['idempotency-replayed']).toBeUndefined();
  }

  test('a repeated create is replayed byte for byte and charges nothing again', async () => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 1 });
    const player = await world.newPlayer();
    const key = randomUUID();
    const body = { challenge_id: challenge.id, player_ref: player.ref, metadata: { b: 1, a: [1, { d: 1, c: 2 }] } };
    const first = expectStatus(201, await world.partner.createAttempt(body, key));
    for (let count = 0; count < 3; count += 1) expectReplay(await world.partner.createAttempt(body, key), first);
    expectStatus(200, await world.partner.reportOutcome(first.body.id, { score: 1 }));
    expectReplay(await world.partner.createAttempt(body, key), first);
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

  test('a request that got a 402 succeeds with its key when the player has enough money', async () => {
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

  test('a key that got a 402 can be used for another request', async () => {
    const { player, challengeId } = await newEntry('0.50');
    const other = await newEntry();
    const key = randomUUID();
    const body = { challenge_id: challengeId, player_ref: player.ref };
    expectError(402, 'insufficient_funds', await world.partner.createAttempt(body, key));
    const otherBody = { challenge_id: other.challengeId, player_ref: other.player.ref };
    const created = expectStatus(201, await world.partner.createAttempt(otherBody, key));
    expect(created.headers['idempotency-replayed']).toBeUndefined();
    expect(expectStatus(201, await world.partner.createAttempt(otherBody, key)).body.id).toBe(created.body.id);
    expectError(409, 'idempotency_key_reused', await world.partner.createAttempt(body, key));
  });

  test('a key that got a 409 or a 403 can be used again', async () => {
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

  test('the audit finds no violation after retries with Idempotency-Keys', () => world.expectAuditOk());
});
