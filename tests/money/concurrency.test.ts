import { randomUUID } from 'node:crypto';
import type { Attempt } from '@laurel/sdk';
import { type Answer, tally } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, type Player, startWorld, type World } from '../world.ts';

describe('parallel requests for challenges', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ replicas: { gateway: 2, challenge: 2, wallet: 2 } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  function createMany(count: number, challengeId: string, player: Player): Promise<Answer<Attempt>[]> {
    const body = { challenge_id: challengeId, player_ref: player.ref };
    return Promise.all(Array.from({ length: count }, () => world.partner.createAttempt(body)));
  }

  test.each([40, 400])('%i parallel first creates of one player never exceed the daily cap', async (count) => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 10 });
    const player = await world.newPlayer();
    const answers = await createMany(count, challenge.id, player);
    expect(tally(answers)).toEqual({ '201': 10, attempt_cap_reached: count - 10 });
    expect(await world.balance(player)).toBe('90.00');
  });

  test.each([40, 400])('%i parallel first creates of one player never overdraw the wallet', async (count) => {
    const challenge = await world.newChallenge({ fee: '1.50' });
    const player = await world.newPlayer({ funds: '11.00' });
    const answers = await createMany(count, challenge.id, player);
    expect(tally(answers)).toEqual({ '201': 7, insufficient_funds: count - 7 });
    expect(await world.balance(player)).toBe('0.50');
  });

  test('parallel creates on many challenges, through two refs of one account, never overdraw the wallet', async () => {
    const challenges = await Promise.all(Array.from({ length: 8 }, () => world.newChallenge({ fee: '1.00' })));
    const player = await world.newPlayer({ funds: '13.00' });
    const twin = { ...player, ref: randomUUID() };
    expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        world.partner.createAttempt({
          challenge_id: challenges[index % 8]?.id ?? '',
          player_ref: index % 3 === 0 ? twin.ref : player.ref,
        }),
      ),
    );
    expect(tally(answers)).toEqual({ '201': 13, insufficient_funds: 67 });
    expect(await world.balance(player)).toBe('0.00');
  });

  test('parallel creates through two refs of one account share one cap', async () => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 6 });
    const player = await world.newPlayer();
    const twin = { ...player, ref: randomUUID() };
    expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
    const answers = (
      await Promise.all([createMany(20, challenge.id, player), createMany(20, challenge.id, twin)])
    ).flat();
    expect(tally(answers)).toEqual({ '201': 6, attempt_cap_reached: 34 });
  });

  test('400 parallel first creates of 400 players all succeed, with no deadlock', async () => {
    const challenge = await world.newChallenge({ target_pass_rate: 0.5 });
    const refs = Array.from({ length: 400 }, () => randomUUID());
    // The race is of the creates: players are made fifty at a time, so that none misses its call's deadline on a slow machine.
    for (let first = 0; first < refs.length; first += 50) {
      const some = refs.slice(first, first + 50);
      await Promise.all(some.map(async (ref) => expectStatus(201, await world.partner.createPlayer(ref, '5.00'))));
    }
    const answers = await Promise.all(
      refs.map((ref) => world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref })),
    );
    expect(tally(answers)).toEqual({ '201': 400 });
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(400);
    const outcomes = await Promise.all(
      answers.map((answer, index) => world.partner.reportOutcome(answer.body.id, { score: 90 + (index % 20) })),
    );
    expect(tally(outcomes)).toEqual({ '200': 400 });
    expect(outcomes.filter((answer) => answer.body.award?.payout_status === 'paid')).toHaveLength(200);
  });

  test('40 parallel clearing outcomes of one player take one prize', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attempts = await createMany(40, challenge.id, player);
    expect(tally(attempts)).toEqual({ '201': 40 });
    const outcomes = await Promise.all(
      attempts.map((attempt) => world.partner.reportOutcome(attempt.body.id, { score: 100 })),
    );
    expect(tally(outcomes)).toEqual({ '200': 40 });
    expect(outcomes.every((outcome) => outcome.body.met_threshold)).toBe(true);
    expect(outcomes.filter((outcome) => outcome.body.award !== null)).toHaveLength(1);
    expect(await world.balance(player)).toBe('65.00');
  });

  test('40 parallel reports of one attempt under different keys settle it once', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const [attempt] = await createMany(1, challenge.id, player);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        world.partner.reportOutcome(attempt?.body.id ?? '', { score: 90 + index }),
      ),
    );
    expect(tally(answers)).toEqual({ '200': 1, attempt_already_settled: 39 });
    const settled = answers.find((answer) => answer.status === 200);
    const read = expectStatus(200, await world.partner.getAttempt(attempt?.body.id ?? ''));
    expect(read.body.outcome).toMatchObject({ receipt_id: settled?.body.receipt_id, score: settled?.body.score });
  });

  test('creates that race the winning outcome are either charged or refused, never both', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const [attempt] = await createMany(1, challenge.id, player);
    const [won, ...answers] = await Promise.all([
      world.partner.reportOutcome(attempt?.body.id ?? '', { score: 100 }),
      ...Array.from({ length: 40 }, () =>
        world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }),
      ),
    ]);
    expectStatus(200, won);
    const created = answers.filter((answer) => answer.status === 201).length;
    expect(tally(answers)).toEqual({
      ...(created > 0 && { '201': created }),
      ...(created < 40 && { challenge_already_claimed: 40 - created }),
    });
    expect(await world.balance(player)).toBe(`${100 - 1 + 5 - created}.00`);
  });

  test('an outcome and an expiry that race end the attempt once', async () => {
    const challenge = await world.newChallenge();
    for (let round = 0; round < 10; round += 1) {
      const player = await world.newPlayer();
      const [attempt] = await createMany(1, challenge.id, player);
      const id = attempt?.body.id ?? '';
      const [outcome, expiry] = await Promise.all([
        world.partner.reportOutcome(id, { score: 100 }),
        world.partner.expireAttempt(id),
      ]);
      const statuses = [outcome.status, expiry.status].sort();
      expect(statuses).toEqual([200, 409]);
      const read = expectStatus(200, await world.partner.getAttempt(id)).body;
      expect(read.status).toBe(outcome.status === 200 ? 'settled' : 'expired');
      expect(await world.balance(player)).toBe(outcome.status === 200 ? '104.00' : '100.00');
    }
  });

  test('an outcome and a voiding that race end the attempt once', async () => {
    const challenge = await world.newChallenge();
    for (let round = 0; round < 10; round += 1) {
      const player = await world.newPlayer();
      const [attempt] = await createMany(1, challenge.id, player);
      const id = attempt?.body.id ?? '';
      const [outcome, voided] = await Promise.all([
        world.partner.reportOutcome(id, { score: 1 }),
        world.operator.voidAttempt(id, 'a race'),
      ]);
      expect([outcome.status, voided.status].sort()).toEqual([200, 409]);
      expect(await world.balance(player)).toBe(outcome.status === 200 ? '99.00' : '100.00');
    }
  });

  test('parallel deposits with one reference count once', async () => {
    const player = await world.newPlayer({ funds: '0.00' });
    const deposit = { environment: 'test', amount: '10.00', reference: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.operator.deposit(player.accountId, deposit)),
    );
    expect(tally(answers)).toEqual({ '201': 20 });
    expect(await world.balance(player)).toBe('10.00');
  });

  test('a create after a self-exclusion that follows the list is 403, with nothing charged', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const listed = expectStatus(200, await world.partner.listChallenges(player.ref));
    expect(listed.body.data.map((entry) => entry.id)).toContain(challenge.id);
    const until = new Date(Date.now() + 86_400_000).toISOString();
    expectStatus(200, await world.operator.updateAccount(player.accountId, { self_excluded_until: until }));
    const answers = await createMany(10, challenge.id, player);
    expect(tally(answers)).toEqual({ blocked: 10 });
    expect(await world.balance(player)).toBe('100.00');
    expectError(403, 'blocked', (await createMany(1, challenge.id, player))[0] as Answer<Attempt>);
  });

  test('a self-exclusion during a burst of creates stops the later ones, and every fee charged has its attempt', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const [changed, ...answers] = await Promise.all([
      world.operator.updateAccount(player.accountId, { self_excluded_until: until }),
      ...Array.from({ length: 60 }, () =>
        world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }),
      ),
    ]);
    expectStatus(200, changed);
    const created = answers.filter((answer) => answer.status === 201).length;
    expect(answers.filter((answer) => answer.status !== 201).every((answer) => answer.code === 'blocked')).toBe(true);
    expect(await world.balance(player)).toBe(`${100 - created}.00`);
  });

  test('the audit is good after parallel requests, and no request failed with a 5xx', async () => {
    await world.expectAuditOk();
    expect(world.http.journal.filter((entry) => entry.answer.status >= 500)).toEqual([]);
  });
});
