import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, liveTerms, type Player, type SharedWorld } from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('POST /v1/attempts/{attempt_id}/outcome', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function openAttempt(challengeId: string, player: Player): Promise<string> {
    const body = { challenge_id: challengeId, player_ref: player.ref };
    return expectStatus(201, await world.partner.createAttempt(body)).body.id;
  }

  test('a loss settles the attempt without an award', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attemptId = await openAttempt(challenge.id, player);
    const answer = expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 99.999 }));
    expect(answer.body).toEqual({
      attempt_id: attemptId,
      score: 99.999,
      met_threshold: false,
      threshold_applied: 100,
      recorded_at: expect.stringMatching(TIMESTAMP),
      receipt_id: expect.stringMatching(UUID),
      award: null,
    });
    const attempt = expectStatus(200, await world.partner.getAttempt(attemptId)).body;
    expect(attempt.status).toBe('settled');
    expect(attempt.outcome).toEqual(answer.body);
    expect(await world.balance(player)).toBe('99.00');
  });

  test('a win at exactly the bar is paid the frozen prize before the response', async () => {
    const challenge = await world.newChallenge({ prize: '7.25' });
    const player = await world.newPlayer();
    const attemptId = await openAttempt(challenge.id, player);
    const answer = expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 100 }));
    expect(answer.body).toEqual({
      attempt_id: attemptId,
      score: 100,
      met_threshold: true,
      threshold_applied: 100,
      recorded_at: expect.stringMatching(TIMESTAMP),
      receipt_id: expect.stringMatching(UUID),
      award: {
        id: expect.stringMatching(UUID),
        amount: '7.25',
        paid_at: expect.stringMatching(TIMESTAMP),
        payout_status: 'paid',
      },
    });
    expect(await world.balance(player)).toBe('106.25');
    const outcome = expectStatus(200, await world.partner.getAttempt(attemptId)).body.outcome;
    expect(outcome).toMatchObject({ ...answer.body, award: { id: answer.body.award?.id, amount: '7.25' } });
    expect(outcome?.award?.paid_at).toBe(answer.body.award?.paid_at);
  });

  test.each([
    ['higher_is_better', 100, true],
    ['higher_is_better', 100.0000001, true],
    ['higher_is_better', 99.9999999, false],
    ['higher_is_better', -100, false],
    ['lower_is_better', 100, true],
    ['lower_is_better', 99.9999999, true],
    ['lower_is_better', 100.0000001, false],
    ['lower_is_better', -1e300, true],
  ])(
    'met_threshold follows the direction: if %s, a score of %d against a bar of 100 gives %s',
    async (direction, score, met) => {
      const challenge = await world.newChallenge({ threshold_direction: direction });
      const player = await world.newPlayer();
      const attemptId = await openAttempt(challenge.id, player);
      const answer = expectStatus(200, await world.partner.reportOutcome(attemptId, { score }));
      expect(answer.body).toMatchObject({ score, met_threshold: met, threshold_applied: 100 });
      expect(answer.body.award !== null).toBe(met);
    },
  );

  test.each([0, -0, 1e-300, 5e-324, 0.1, 1e21, 1.7976931348623157e308, -1.7976931348623157e308, 9007199254740991])(
    'an outcome returns the score %d exactly',
    async (score) => {
      const challenge = await world.newChallenge();
      const player = await world.newPlayer();
      const attemptId = await openAttempt(challenge.id, player);
      const answer = expectStatus(200, await world.partner.reportOutcome(attemptId, { score }));
      expect(answer.body.score).toBe(Object.is(score, -0) ? 0 : score);
      const read = expectStatus(200, await world.partner.getAttempt(attemptId));
      expect(read.body.outcome?.score).toBe(Object.is(score, -0) ? 0 : score);
    },
  );

  test('the second attempt of a player to clear the bar of a challenge has no award', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const first = await openAttempt(challenge.id, player);
    const second = await openAttempt(challenge.id, player);
    const won = expectStatus(200, await world.partner.reportOutcome(first, { score: 150 }));
    expect(won.body.award).not.toBeNull();
    const also = expectStatus(200, await world.partner.reportOutcome(second, { score: 200 }));
    expect(also.body).toMatchObject({ met_threshold: true, award: null });
    expect(await world.balance(player)).toBe('103.00');
  });

  test('a calibrating attempt has an outcome without a threshold', async () => {
    const terms = liveTerms({ status: 'calibrating' });
    delete terms.threshold;
    const challenge = expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body;
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: randomUUID() });
    const answer = await world.partner.reportOutcome(expectStatus(201, attempt).body.id, { score: 1e6 });
    expect(expectStatus(200, answer).body).toMatchObject({
      met_threshold: false,
      threshold_applied: null,
      award: null,
      receipt_id: expect.stringMatching(UUID),
    });
  });

  test('a tiebreak on an attempt in a challenge is ignored', async () => {
    const challenge = await world.newChallenge();
    const attemptId = await openAttempt(challenge.id, await world.newPlayer());
    const answer = await world.partner.send('POST', `/v1/attempts/${attemptId}/outcome`, {
      body: { score: 1, tiebreak: 12 },
      headers: { 'idempotency-key': randomUUID() },
    });
    expectStatus(200, answer);
  });

  test('a win flag in the partner’s report has no effect on the decision', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attemptId = await openAttempt(challenge.id, player);
    const answer = await world.partner.send('POST', `/v1/attempts/${attemptId}/outcome`, {
      body: { score: 1, win: true, met_threshold: true, award: { amount: '1000.00' } },
      headers: { 'idempotency-key': randomUUID() },
    });
    if (answer.status === 200) expect(answer.body).toMatchObject({ met_threshold: false, award: null });
    else expectError(400, 'invalid_request', answer);
    expect(await world.balance(player)).toBe('99.00');
  });

  test('an outcome applies the threshold and the prize that were frozen at creation', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attemptId = await openAttempt(challenge.id, player);
    expectStatus(200, await world.operator.updateChallenge(challenge.id, { status: 'closed' }));
    const answer = expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 100 }));
    expect(answer.body).toMatchObject({ met_threshold: true, threshold_applied: 100, award: { amount: '5.00' } });
  });

  test('a second report under another key is 409', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attemptId = await openAttempt(challenge.id, player);
    const first = expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 1 }));
    expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(attemptId, { score: 100 }));
    expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(attemptId, { score: 1 }));
    expect(expectStatus(200, await world.partner.getAttempt(attemptId)).body.outcome).toEqual(first.body);
  });

  test.each(['expired', 'voided'])('a report on an attempt that is %s is 409', async (how) => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attemptId = await openAttempt(challenge.id, player);
    const ended =
      how === 'expired'
        ? await world.partner.expireAttempt(attemptId)
        : await world.operator.voidAttempt(attemptId, 'a tester asked');
    expect(expectStatus(200, ended).body).toMatchObject({ id: attemptId, status: how, outcome: null });
    expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(attemptId, { score: 100 }));
    expect(expectStatus(200, await world.partner.getAttempt(attemptId)).body).toMatchObject({ status: how });
    expect(await world.balance(player)).toBe('100.00');
  });

  test('a score outside the declared window is 422 and disqualifies the attempt', async () => {
    const challenge = await world.newChallenge({ score_min: 0, score_max: 1000 });
    const player = await world.newPlayer();
    for (const score of [-0.001, 1000.001]) {
      const attemptId = await openAttempt(challenge.id, player);
      const key = randomUUID();
      expectError(422, 'score_out_of_range', await world.partner.reportOutcome(attemptId, { score }, key));
      expectError(422, 'score_out_of_range', await world.partner.reportOutcome(attemptId, { score }, key));
      // The attempt is disqualified, so a plausible report comes too late.
      expectError(422, 'score_out_of_range', await world.partner.reportOutcome(attemptId, { score: 500 }));
      const attempt = expectStatus(200, await world.partner.getAttempt(attemptId));
      expect(attempt.body).toMatchObject({ status: 'open', outcome: null });
      expectStatus(200, await world.partner.expireAttempt(attemptId));
      expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(attemptId, { score: 500 }));
    }
    expect(await world.balance(player)).toBe('100.00');
    for (const score of [0, 1000]) {
      const other = await world.newPlayer();
      const attemptId = await openAttempt(challenge.id, other);
      expectStatus(200, await world.partner.reportOutcome(attemptId, { score }));
    }
  });

  test('a report on an unknown or malformed attempt id is 404', async () => {
    for (const id of [randomUUID(), 'nonsense', '123', `${randomUUID()}0`]) {
      const answer = await world.partner.send('POST', `/v1/attempts/${id}/outcome`, {
        body: { score: 1 },
        headers: { 'idempotency-key': randomUUID() },
      });
      expectError(404, 'not_found', answer);
    }
  });

  test('a signed receipt contains the evidence unchanged', async () => {
    const challenge = await world.newChallenge();
    const attemptId = await openAttempt(challenge.id, await world.newPlayer());
    const evidence = { replay: 'https://example.com/r/1', inputs: [1, 2.5, { ünï: null }], ok: true };
    const answer = expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 12, evidence }));
    const receipt = expectStatus(200, await world.operator.getReceipt(answer.body.receipt_id)).body;
    expect(JSON.stringify(receipt.receipt)).toContain('https://example.com/r/1');
    const text = JSON.stringify(receipt.receipt);
    for (const fact of [attemptId, challenge.id]) expect(text).toContain(fact);
    expect(receipt.receipt.evidence).toEqual(evidence);
    expect(receipt.receipt.score).toBe(12);
  });

  test('the audit finds no violation after outcomes', () => world.expectAuditOk());
});
