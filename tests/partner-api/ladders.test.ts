import { randomUUID } from 'node:crypto';
import type { ChallengeTerms } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, liveTerms, type SharedWorld } from '../world.ts';
import { playIn, SEED, SEEDED_BAR } from './play.ts';

describe('the rungs of a ladder', () => {
  let world: SharedWorld;
  let on: ReturnType<typeof playIn>;
  beforeAll(async () => {
    world = await joinWorld();
    on = playIn(world);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const rungOf = (parent: { id: string }, terms: ChallengeTerms = {}): ChallengeTerms =>
    liveTerms({
      prize: '12.00',
      integrity_tier: 1,
      target_pass_rate: 0.1,
      threshold: null,
      parent_challenge_id: parent.id,
      ...terms,
    });

  async function seededParent() {
    const parent = await on.calibrating({ target_pass_rate: 0.2 });
    expectStatus(201, await world.partner.seedChallenge(parent.id, SEED));
    return parent;
  }

  test('a rung takes its bar from the distribution of its parent', async () => {
    const parent = await seededParent();
    const rung = expectStatus(201, await world.operator.createChallenge(world.program.id, rungOf(parent))).body;
    const player = await world.newPlayer();
    const shown = await on.listed(rung.id, player.ref);
    expect(shown).toMatchObject({
      status: 'live',
      rung: 2,
      parent_challenge_id: parent.id,
      calibration_source: 'rung_derived',
      prize: '5.00',
      ramp: { active: true, fullPrize: '12.00', attemptsSeen: 0, attemptsRequired: 100 },
    });
    expect(shown.threshold).toBeCloseTo(100, 9);

    const entry = { challenge_id: rung.id, player_ref: player.ref };
    const isOffered = async () =>
      expectStatus(200, await world.partner.listChallenges(player.ref)).body.data.some(({ id }) => id === rung.id);
    expectError(409, 'rung_locked', await world.partner.createAttempt(entry));
    expect(await isOffered()).toBe(false);
    const { outcome: lost } = await on.play(parent.id, player.ref, SEEDED_BAR - 1);
    expect(lost.award).toBeNull();
    expectError(409, 'rung_locked', await world.partner.createAttempt(entry));
    const { outcome: won } = await on.play(parent.id, player.ref, SEEDED_BAR);
    expect(won.award).not.toBeNull();
    expect(await isOffered()).toBe(true);
    const { outcome } = await on.play(rung.id, player.ref, 100);
    expect(outcome).toMatchObject({ met_threshold: true, award: { amount: '5.00' } });
  });

  test('a rung takes its bar from its parent’s observed scores, at the pass rate of the rung', async () => {
    const parent = await on.calibrating({ min_calibration_n: 10, min_calibration_players: 5, target_pass_rate: 0.5 });
    for (let score = 1; score <= 10; score += 1) await on.play(parent.id, `rung-${parent.id}-${score % 5}`, score);
    expect((await on.listed(parent.id)).threshold).toBe(6);
    const terms = rungOf(parent, { target_pass_rate: 0.2 });
    const rung = expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body;
    expect(rung).toMatchObject({ threshold: 9, calibration_source: 'rung_derived', status: 'live' });
  });

  test('a rung whose bar cannot be derived is refused', async () => {
    const parent = await seededParent();
    for (const terms of [
      rungOf(parent, { target_pass_rate: 0.2 }),
      rungOf(parent, { target_pass_rate: 0.3 }),
      rungOf(parent, { metric_name: 'laps' }),
      rungOf(parent, { metric_unit: 'laps' }),
      rungOf(parent, { threshold_direction: 'lower_is_better' }),
      rungOf(parent, { score_max: 99 }),
      rungOf(await on.calibrating()),
      rungOf(await world.newChallenge()),
      rungOf({ id: randomUUID() }),
    ]) {
      const refusal = await world.operator.createChallenge(world.program.id, terms);
      expectError(400, 'invalid_request', refusal);
    }
    const withoutParent = { ...rungOf(parent), parent_challenge_id: null };
    expectError(400, 'invalid_request', await world.operator.createChallenge(world.program.id, withoutParent));
  });

  test('a rung that calibrates is locked until its parent is claimed', async () => {
    const parent = await world.newChallenge();
    const { id } = await on.calibrating({ parent_challenge_id: parent.id });
    expectError(
      409,
      'rung_locked',
      await world.partner.createAttempt({ challenge_id: id, player_ref: 'without-account' }),
    );
    expectError(400, 'invalid_request', await world.partner.seedChallenge(id, SEED));
  });

  test('the audit finds no violation after the ladders', () => world.expectAuditOk());
});
