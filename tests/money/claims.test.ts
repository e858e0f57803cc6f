import { randomUUID } from 'node:crypto';
import type { Outcome } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, liveTerms, type SharedWorld } from '../world.ts';

describe('one prize per person', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function play(challengeId: string, ref: string, score: number): Promise<Answer<Outcome>> {
    const attempt = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref });
    return expectStatus(200, await world.partner.reportOutcome(expectStatus(201, attempt).body.id, { score }));
  }

  test('two refs of one account share one claim and one daily cap', async () => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 3 });
    const player = await world.newPlayer();
    const twin = randomUUID();
    expectStatus(201, await world.partner.linkPlayer(twin, player.email));
    await play(challenge.id, player.ref, 1);
    await play(challenge.id, twin, 2);
    await play(challenge.id, player.ref, 100);
    for (const ref of [player.ref, twin]) {
      const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
      expectError(409, 'challenge_already_claimed', answer);
    }
  });

  test('only the first of two refs of one account that clears the bar wins the prize', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const twin = randomUUID();
    expectStatus(201, await world.partner.linkPlayer(twin, player.email));
    const attempts = [];
    for (const ref of [player.ref, twin]) {
      const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
      attempts.push(expectStatus(201, answer).body.id);
    }
    const outcomes = await Promise.all(attempts.map((id) => world.partner.reportOutcome(id, { score: 100 })));
    expect(outcomes.map((answer) => answer.body.met_threshold)).toEqual([true, true]);
    expect(outcomes.filter((answer) => answer.body.award !== null)).toHaveLength(1);
    expect(await world.balance(player)).toBe('103.00');
  });

  test('a claim belongs to the person and does not move with a player link', async () => {
    const challenge = await world.newChallenge();
    const first = await world.newPlayer();
    const second = await world.newPlayer();
    await play(challenge.id, first.ref, 100);
    expectStatus(201, await world.partner.linkPlayer(first.ref, second.email));
    await play(challenge.id, first.ref, 100);
    expect(await world.balance(second)).toBe('104.00');
    expectStatus(201, await world.partner.linkPlayer(second.ref, first.email));
    const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: second.ref });
    expectError(409, 'challenge_already_claimed', answer);
  });

  test('links that move during parallel creates never cause a charge without an attempt', async () => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 5 });
    const one = await world.newPlayer({ funds: '50.00' });
    const two = await world.newPlayer({ funds: '50.00' });
    const ref = randomUUID();
    expectStatus(201, await world.partner.linkPlayer(ref, one.email));
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 6 === 5) return world.partner.linkPlayer(ref, index % 12 === 5 ? two.email : one.email);
        return world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
      }),
    );
    const creates = answers.filter((_, index) => index % 6 !== 5);
    for (const answer of creates) if (answer.status !== 201) expectError(409, 'attempt_cap_reached', answer);
    const created = creates.filter((answer) => answer.status === 201).length;
    const charged = [one, two].map(async (player) => 50 - Number((await world.balance(player)).split('.')[0]));
    const [fromOne, fromTwo] = await Promise.all(charged);
    expect((fromOne ?? 0) + (fromTwo ?? 0)).toBe(created);
    expect(fromOne).toBeLessThanOrEqual(5);
    expect(fromTwo).toBeLessThanOrEqual(5);
  });

  test('the rungs of a ladder unlock one after the other, separately for each person', async () => {
    const first = await world.newChallenge();
    const second = await world.newChallenge({ parent_challenge_id: first.id });
    const third = await world.newChallenge({ parent_challenge_id: second.id });
    expect([first, second, third].map((rung) => rung.rung)).toEqual([1, 2, 3]);
    const player = await world.newPlayer();
    const visible = async () =>
      expectStatus(200, await world.partner.listChallenges(player.ref))
        .body.data.map((challenge) => challenge.id)
        .filter((id) => [first.id, second.id, third.id].includes(id));
    for (const [index, rung] of [first, second, third].entries()) {
      expect(await visible()).toEqual([rung.id]);
      for (const later of [first, second, third].slice(index + 1)) {
        const answer = await world.partner.createAttempt({ challenge_id: later.id, player_ref: player.ref });
        expectError(409, 'rung_locked', answer);
      }
      await play(rung.id, player.ref, 100);
    }
    expect(await visible()).toEqual([]);
    const newcomer = await world.newPlayer();
    const locked = await world.partner.createAttempt({ challenge_id: second.id, player_ref: newcomer.ref });
    expectError(409, 'rung_locked', locked);
  });

  test('a claim whose award is held unlocks the next rung', async () => {
    const parent = await world.newChallenge();
    const rung = await world.newChallenge({ parent_challenge_id: parent.id });
    const player = await world.newPlayer();
    expectStatus(204, await world.partner.holdNextAward(player.ref));
    expect((await play(parent.id, player.ref, 100)).body.award?.payout_status).toBe('held');
    expectStatus(201, await world.partner.createAttempt({ challenge_id: rung.id, player_ref: player.ref }));
  });

  test('a parent challenge must belong to the same program and environment', async () => {
    const other = await world.newProgram();
    const foreign = await world.newChallenge({}, other);
    const live = await world.newChallenge({ environment: 'live' });
    for (const parent_challenge_id of [foreign.id, live.id, randomUUID()]) {
      const answer = await world.operator.createChallenge(world.program.id, liveTerms({ parent_challenge_id }));
      expectError(400, 'invalid_request', answer);
    }
  });

  test('the audit finds no violation after the claims of one person', () => world.expectAuditOk());
});
