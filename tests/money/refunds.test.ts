import { randomUUID } from 'node:crypto';
import { newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, liveTerms, type Player, type SharedWorld } from '../world.ts';

describe('refunds at an operator’s or a tester’s request', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function openAttempt(player: Player, terms = {}): Promise<string> {
    const challenge = await world.newChallenge(terms);
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    return expectStatus(201, await world.partner.createAttempt(body)).body.id;
  }

  test('expiring an attempt refunds the fee once, before the response', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player, { fee: '3.00' });
    const before = expectStatus(200, await world.partner.getAttempt(id)).body;
    expect(await world.balance(player)).toBe('97.00');
    const answer = expectStatus(200, await world.partner.expireAttempt(id));
    expect(answer.body).toMatchObject({ id, status: 'expired', fee_charged: '3.00', outcome: null });
    expect(answer.body).toEqual({ ...before, status: 'expired' });
    expect(await world.balance(player)).toBe('100.00');
    const again = await world.partner.expireAttempt(id);
    expect([200, 409]).toContain(again.status);
    expect(await world.balance(player)).toBe('100.00');
  });

  test('20 parallel expiries refund the fee once', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player);
    await Promise.all(Array.from({ length: 20 }, () => world.partner.expireAttempt(id)));
    expect(await world.balance(player)).toBe('100.00');
    expect(expectStatus(200, await world.partner.getAttempt(id)).body.status).toBe('expired');
  });

  test('a settled attempt cannot expire', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player);
    expectStatus(200, await world.partner.reportOutcome(id, { score: 1 }));
    expectError(409, 'attempt_already_settled', await world.partner.expireAttempt(id));
    expectError(409, 'conflict', await world.operator.voidAttempt(id, 'too late'));
    expect(await world.balance(player)).toBe('99.00');
  });

  test('expiring or voiding an unknown attempt is 404', async () => {
    expectError(404, 'not_found', await world.partner.expireAttempt(randomUUID()));
    for (const id of [randomUUID(), newOwnedId('challenge')]) {
      expectError(404, 'not_found', await world.operator.voidAttempt(id, 'nothing there'));
    }
    const id = await openAttempt(await world.newPlayer());
    expectError(404, 'not_found', await (await world.newProgram()).test.expireAttempt(id));
  });

  test('voiding an attempt refunds the fee once, before the response', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player);
    expectError(400, 'invalid_request', await world.operator.voidAttempt(id, ''));
    const before = expectStatus(200, await world.partner.getAttempt(id)).body;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => world.operator.voidAttempt(id, 'reported broken')),
    );
    const [voided] = answers.filter((answer) => answer.status === 200);
    expect(voided?.body).toEqual({ ...before, status: 'voided' });
    for (const answer of answers) if (answer.status !== 200) expectError(409, 'conflict', answer);
    expect(expectStatus(200, await world.partner.getAttempt(id)).body).toMatchObject({
      status: 'voided',
      outcome: null,
    });
    expect(await world.balance(player)).toBe('100.00');
  });

  test('expiring a free attempt posts no transfer', async () => {
    const terms = liveTerms({ status: 'calibrating' });
    delete terms.threshold;
    const challenge = expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body;
    const player = await world.newPlayer();
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const answer = await world.partner.expireAttempt(expectStatus(201, attempt).body.id);
    expect(expectStatus(200, answer).body).toMatchObject({ status: 'expired', fee_charged: '0.00' });
    const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
    expect(data.map((line) => line.kind)).toEqual(['deposit']);
  });

  test('the refund goes to the account that paid, even if its ref now names another account', async () => {
    const payer = await world.newPlayer();
    const id = await openAttempt(payer);
    const other = await world.newPlayer();
    expectStatus(201, await world.partner.linkPlayer(payer.ref, other.email));
    expectStatus(200, await world.partner.expireAttempt(id));
    expect(await world.balance(payer)).toBe('100.00');
    expect(await world.balance(other)).toBe('100.00');
  });

  test('the sandbox cannot expire a live attempt', async () => {
    const challenge = await world.newChallenge({ environment: 'live' });
    const player = await world.newPlayer({ environment: 'live' });
    const attempt = await world.program.live.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const { id } = expectStatus(201, attempt).body;
    expectError(404, 'not_found', await world.partner.expireAttempt(id));
    expectStatus(401, await world.program.live.send('POST', `/api/sandbox/attempts/${id}/expire`));
    expectStatus(200, await world.operator.voidAttempt(id, 'an operator may'));
    expect(await world.balance(player, 'live')).toBe('100.00');
  });

  test('the audit finds no violation after refunds on request', () => world.expectAuditOk());
});
