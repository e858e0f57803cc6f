import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, joinWorld, liveTerms, type SharedWorld } from '../world.ts';

/**
 * The bar is the n-th best settled score so far, frozen when an attempt is created; with fewer than
 * n scores the challenge calibrates.
 */
describe('a top_n challenge', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function newTopN(changes: Record<string, unknown>): Promise<string> {
    const terms = liveTerms({ prize_structure: 'top_n', status: 'calibrating', ...changes });
    delete terms.threshold;
    return expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body.id;
  }

  /** Plays one attempt by a new player with money, and returns its fee and its decision. */
  async function play(challengeId: string, score: number) {
    const ref = randomUUID();
    expectStatus(201, await world.partner.createPlayer(ref, '10.00'));
    const attempt = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref }),
    ).body;
    const outcome = expectStatus(200, await world.partner.reportOutcome(attempt.id, { score })).body;
    return {
      fee: attempt.fee_charged,
      bar: outcome.threshold_applied,
      met: outcome.met_threshold,
      won: outcome.award !== null,
    };
  }

  test('a top_n challenge is free until n scores are recorded', async () => {
    const challengeId = await newTopN({ top_n: 2 });
    const free = { fee: '0.00', bar: null, met: false, won: false };
    expect(await play(challengeId, 10)).toEqual(free);
    expect(await play(challengeId, 20)).toEqual(free);
    expect(await play(challengeId, 9)).toEqual({ fee: '1.00', bar: 10, met: false, won: false });
    expect(await play(challengeId, 15)).toEqual({ fee: '1.00', bar: 10, met: true, won: true });
    expect(await play(challengeId, 14)).toEqual({ fee: '1.00', bar: 15, met: false, won: false });
    expect(await play(challengeId, 30)).toEqual({ fee: '1.00', bar: 15, met: true, won: true });
    expect(await play(challengeId, 20)).toEqual({ fee: '1.00', bar: 20, met: true, won: true });
  });

  test('a top_n challenge applies the direction of its score', async () => {
    const challengeId = await newTopN({ top_n: 1, threshold_direction: 'lower_is_better' });
    expect((await play(challengeId, 60)).bar).toBeNull();
    expect(await play(challengeId, 61)).toMatchObject({ bar: 60, met: false });
    expect(await play(challengeId, 59)).toMatchObject({ bar: 60, met: true });
    expect(await play(challengeId, 59.5)).toMatchObject({ bar: 59, met: false });
  });

  test('a top_n challenge freezes the bar of an attempt at creation', async () => {
    const challengeId = await newTopN({ top_n: 1 });
    await play(challengeId, 10);
    const ref = randomUUID();
    expectStatus(201, await world.partner.createPlayer(ref, '10.00'));
    const attempt = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref });
    await play(challengeId, 50);
    const outcome = await world.partner.reportOutcome(expectStatus(201, attempt).body.id, { score: 11 });
    expect(expectStatus(200, outcome).body).toMatchObject({ threshold_applied: 10, met_threshold: true });
  });

  test('the audit finds no violation after top_n challenges', () => world.expectAuditOk());
});
