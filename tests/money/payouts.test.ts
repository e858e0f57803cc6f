import { randomUUID } from 'node:crypto';
import type { Outcome } from '@laurel/sdk';
import type { Answer, PayoutBody } from '@laurel/testing';
import { newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type Player, type SharedWorld } from '../world.ts';

describe('payouts of awards', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** Wins a new challenge, and returns the outcome. */
  async function win(player: Player, prize = '5.00', key: string = randomUUID()): Promise<Answer<Outcome>> {
    const challenge = await world.newChallenge({ prize, integrity_tier: 3 });
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    return expectStatus(
      200,
      await world.partner.reportOutcome(expectStatus(201, attempt).body.id, { score: 100 }, key),
    );
  }

  async function held(awardId: string): Promise<PayoutBody | undefined> {
    const { data } = expectStatus(200, await world.operator.listPayouts('held')).body;
    return data.find((payout) => payout.award_id === awardId);
  }

  function awardOf(outcome: Answer<Outcome>): NonNullable<Outcome['award']> {
    if (outcome.body.award === null) throw new Error(`no award: ${outcome.text}`);
    return outcome.body.award;
  }

  test('the payout of the sixth win in a day is held, whatever its amount', async () => {
    const player = await world.newPlayer({ funds: '10.00' });
    for (let count = 1; count <= 5; count += 1) {
      expect(awardOf(await win(player, '1.00')).payout_status).toBe('paid');
    }
    const sixth = awardOf(await win(player, '1.00'));
    expect(sixth).toMatchObject({ amount: '1.00', payout_status: 'held', paid_at: null });
    expect(await world.balance(player)).toBe('9.00');
    expect(await held(sixth.id)).toMatchObject({
      award_id: sixth.id,
      account_id: player.accountId,
      amount: '1.00',
      reason: 'payout_velocity',
    });
  });

  test('a win is held if it takes the day’s payouts over 500.00', async () => {
    const player = await world.newPlayer({ funds: '10.00' });
    expect(awardOf(await win(player, '250.00')).payout_status).toBe('paid');
    expect(awardOf(await win(player, '250.00')).payout_status).toBe('paid');
    expect(awardOf(await win(player, '0.01')).payout_status).toBe('held');
    expect(await world.balance(player)).toBe('507.00');
    const rich = await world.newPlayer({ funds: '10.00' });
    expect(awardOf(await win(rich, '500.01')).payout_status).toBe('held');
    expect(awardOf(await win(rich, '500.00')).payout_status).toBe('paid');
  });

  test('five of 12 parallel wins of one player are paid and the others are held', async () => {
    const player = await world.newPlayer();
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => win(player, '1.00')));
    const statuses = outcomes.map((outcome) => awardOf(outcome).payout_status);
    expect(statuses.filter((status) => status === 'paid')).toHaveLength(5);
    expect(statuses.filter((status) => status === 'held')).toHaveLength(7);
    expect(await world.balance(player)).toBe('93.00');
  });

  test.each([
    ['enforcement_flag', { enforcement_flag: true }],
    ['under_investigation', { under_investigation: true }],
  ])('a win of an account with %s is held', async (reason, changes) => {
    const player = await world.newPlayer();
    expectStatus(200, await world.operator.updateAccount(player.accountId, changes));
    const award = awardOf(await win(player));
    expect(award).toMatchObject({ payout_status: 'held', paid_at: null });
    expect(await held(award.id)).toMatchObject({ reason });
    expect(await world.balance(player)).toBe('99.00');
  });

  test('the sandbox holds only the next award of a player', async () => {
    const player = await world.newPlayer();
    expect(expectStatus(204, await world.partner.holdNextAward(player.ref)).text).toBe('');
    expect(awardOf(await win(player)).payout_status).toBe('held');
    expect(awardOf(await win(player)).payout_status).toBe('paid');
    expectError(404, 'not_found', await world.partner.holdNextAward(randomUUID()));
  });

  test('a held award claims the prize of its challenge', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    expectStatus(204, await world.partner.holdNextAward(player.ref));
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const attempt = expectStatus(201, await world.partner.createAttempt(entry));
    const outcome = expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 100 }));
    expect(awardOf(outcome).payout_status).toBe('held');
    expectError(409, 'challenge_already_claimed', await world.partner.createAttempt(entry));
    const read = expectStatus(200, await world.partner.getAttempt(attempt.body.id)).body;
    expect(read.outcome?.award).toMatchObject({ id: awardOf(outcome).id, amount: '5.00', paid_at: null });
  });

  test('the release of a held award pays the award once', async () => {
    const player = await world.newPlayer();
    expectStatus(204, await world.partner.holdNextAward(player.ref));
    const key = randomUUID();
    const outcome = await win(player, '5.00', key);
    const award = awardOf(outcome);
    expect(await world.balance(player)).toBe('99.00');

    const released = await Promise.all(Array.from({ length: 10 }, () => world.operator.releasePayout(award.id)));
    for (const answer of released) {
      expect(expectStatus(200, answer).body).toMatchObject({ award_id: award.id, amount: '5.00', status: 'paid' });
    }
    expect(await world.balance(player)).toBe('104.00');
    expect(await held(award.id)).toBeUndefined();
    const read = expectStatus(200, await world.partner.getAttempt(outcome.body.attempt_id)).body;
    expect(read.outcome?.award?.paid_at).toMatch(/^\d{4}-/);
    const replay = await world.partner.reportOutcome(outcome.body.attempt_id, { score: 100 }, key);
    expect(expectStatus(200, replay).text).toBe(outcome.text);
    expectError(409, 'conflict', await world.operator.denyPayout(award.id));
    const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
    expect(data.filter((line) => line.kind === 'award')).toHaveLength(1);
  });

  test('the denial of a held award leaves the award unpaid and the claim in place', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    expectStatus(204, await world.partner.holdNextAward(player.ref));
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const attempt = expectStatus(201, await world.partner.createAttempt(entry));
    const award = awardOf(expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 100 })));
    for (let count = 0; count < 2; count += 1) {
      expect(expectStatus(200, await world.operator.denyPayout(award.id)).body).toMatchObject({ status: 'denied' });
    }
    expect(await held(award.id)).toBeUndefined();
    expect(await world.balance(player)).toBe('99.00');
    const read = expectStatus(200, await world.partner.getAttempt(attempt.body.id)).body;
    expect(read.outcome?.award).toMatchObject({ id: award.id, paid_at: null });
    expectError(409, 'challenge_already_claimed', await world.partner.createAttempt(entry));
    expectError(409, 'conflict', await world.operator.releasePayout(award.id));
    expect(await world.balance(player)).toBe('99.00');
  });

  test.each([
    ['enforcement_flag', { enforcement_flag: true }],
    ['under_investigation', { under_investigation: true }],
    ['sandbox_hold', null],
  ])(
    'partners see a denied award as held, while operators see the denial and that %s held the award',
    async (reason, changes) => {
      const player = await world.newPlayer();
      if (changes === null) expectStatus(204, await world.partner.holdNextAward(player.ref));
      else expectStatus(200, await world.operator.updateAccount(player.accountId, changes));
      const key = randomUUID();
      const outcome = await win(player, '5.00', key);
      const { award, attempt_id: attemptId } = outcome.body;
      const awardId = award?.id ?? '';
      const before = await held(awardId);
      expect(before).toEqual({
        award_id: awardId,
        attempt_id: attemptId,
        round_id: null,
        program_id: world.program.id,
        environment: 'test',
        account_id: player.accountId,
        amount: '5.00',
        status: 'held',
        reason,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        paid_at: null,
        decision: null,
      });
      const read = expectStatus(200, await world.partner.getAttempt(attemptId)).body;
      expect(award).toEqual({ id: awardId, amount: '5.00', paid_at: null, payout_status: 'held' });

      const denied = expectStatus(200, await world.operator.denyPayout(awardId, 'a bot')).body;
      const decision = { decision: 'denied', at: expect.any(String), operator: 'operator', reason: 'a bot' };
      expect(denied).toEqual({ ...before, status: 'denied', reason, decision });
      const listed = expectStatus(200, await world.operator.listPayouts('denied')).body.data;
      expect(listed.find((payout) => payout.award_id === awardId)).toEqual(denied);
      for (const status of ['held', 'paid']) {
        const { data } = expectStatus(200, await world.operator.listPayouts(status)).body;
        expect(data.map((payout) => payout.award_id)).not.toContain(awardId);
      }

      // The partner reads the same as before: in the attempt, in a replay of the outcome, and in
      // the outcome after its stored response is gone.
      expect(expectStatus(200, await world.partner.getAttempt(attemptId)).body).toEqual(read);
      expect(expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 100 }, key)).text).toBe(
        outcome.text,
      );
      await world.allWritten();
      // Puts the record into the state that a process leaves if it died before it stored the
      // response, more than a minute ago.
      await world.stack.database('gateway').query(
        `update idempotency_records set state = 'locked', status = null, body = null, locked_at = now() - interval '61 s'
       where body = $1`,
        [outcome.text],
      );
      const again = expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 100 }, key));
      expect(again.headers['idempotency-replayed']).toBeUndefined();
      expect(again.body).toEqual(outcome.body);
    },
  );

  test('a concurrent release and denial leave the payout either paid or denied', async () => {
    for (let round = 0; round < 8; round += 1) {
      const player = await world.newPlayer();
      expectStatus(204, await world.partner.holdNextAward(player.ref));
      const award = awardOf(await win(player));
      const answers = await Promise.all([world.operator.releasePayout(award.id), world.operator.denyPayout(award.id)]);
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
      expect(await world.balance(player)).toBe(answers[0]?.status === 200 ? '104.00' : '99.00');
    }
  });

  test('only one of several concurrent denials for different reasons is recorded', async () => {
    const player = await world.newPlayer();
    expectStatus(204, await world.partner.holdNextAward(player.ref));
    const { id } = awardOf(await win(player));
    const reasons = ['a bot', 'two accounts', 'a forged replay'];
    const answers = await Promise.all(reasons.map((reason) => world.operator.denyPayout(id, reason)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const kept = answers.findIndex(({ status }) => status === 200);
    const listed = expectStatus(200, await world.operator.listPayouts('denied')).body.data;
    expect(listed.find((payout) => payout.award_id === id)?.decision).toMatchObject({ reason: reasons[kept] });
    for (const answer of answers.filter(({ status }) => status === 409)) {
      expectError(409, 'conflict', answer);
      expect(answer.text).toContain('The payout was denied by operator, with another reason.');
    }
    expectError(409, 'conflict', await world.operator.releasePayout(id));
    expect(await world.balance(player)).toBe('99.00');
  });

  test('the release and the denial of an unknown award are 404', async () => {
    for (const id of [randomUUID(), newOwnedId('challenge'), newOwnedId('tournament')]) {
      expectError(404, 'not_found', await world.operator.releasePayout(id));
      expectError(404, 'not_found', await world.operator.denyPayout(id));
    }
  });

  test('the audit finds no violation after payouts', () => world.expectAuditOk());
});
