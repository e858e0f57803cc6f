import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { HIDDEN, playIn, SEED } from './play.ts';

describe('the calibration of a challenge', () => {
  let world: SharedWorld;
  let on: ReturnType<typeof playIn>;
  beforeAll(async () => {
    world = await joinWorld();
    on = playIn(world);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const TERMS = { min_calibration_n: 8, min_calibration_players: 4, target_pass_rate: 0.3 };

  test('the outcome that completes a calibration makes the challenge live', async () => {
    const { id } = await on.calibrating(TERMS);
    const refs = (await on.newPlayers(4)).map(({ ref }) => ref);
    const scores = [10, 80, 20, 70, 30, 60, 40, 50];
    for (const [index, score] of scores.entries()) {
      expect(await on.listed(id)).toMatchObject({
        status: 'calibrating',
        fee: '0.00',
        threshold: null,
        calibration: {
          collected: index,
          required: 8,
          playersCollected: Math.min(index, 4),
          playersRequired: 4,
        },
      });
      const { attempt, outcome } = await on.play(id, refs[index % 4] ?? '', score);
      expect(attempt.fee_charged).toBe('0.00');
      expect(outcome).toMatchObject({ met_threshold: false, threshold_applied: null, award: null });
    }
    // The bar must be cleared by round(0.3 x 8) scores, so it is the second best of 8.
    const live = await on.listed(id);
    expect(live).toMatchObject({ status: 'live', threshold: 70, calibration_source: 'observed' });
    expect(live).toMatchObject({ fee: '1.00', prize: '5.00' });
    for (const field of ['calibration', 'ramp', ...HIDDEN]) expect(live).not.toHaveProperty(field);
    const [player] = await on.newPlayers(1);
    const { attempt, outcome } = await on.play(id, player?.ref ?? '', 70);
    expect(attempt.fee_charged).toBe('1.00');
    expect(outcome).toMatchObject({ met_threshold: true, threshold_applied: 70, award: { amount: '5.00' } });
  });

  test('the bar is taken from the lowest scores if lower is better', async () => {
    const { id } = await on.calibrating({ ...TERMS, threshold_direction: 'lower_is_better' });
    const refs = (await on.newPlayers(4)).map(({ ref }) => ref);
    for (const [index, score] of [10, 80, 20, 70, 30, 60, 40, 50].entries()) {
      await on.play(id, refs[index % 4] ?? '', score);
    }
    expect(await on.listed(id)).toMatchObject({ status: 'live', threshold: 20 });
  });

  test('one player’s scores count only up to a fair share', async () => {
    const { id } = await on.calibrating({ ...TERMS, target_pass_rate: 0.7 });
    const [greedy, ...others] = await on.newPlayers(4);
    const otherRef = `other-${randomUUID()}`;
    expectStatus(201, await world.partner.linkPlayer(otherRef, greedy?.email ?? ''));
    // One player's share is ceil(2 x 8 / 4).
    for (let count = 0; count < 10; count += 1)
      await on.play(id, count % 2 === 0 ? (greedy?.ref ?? '') : otherRef, 1000);
    expect((await on.listed(id)).calibration).toMatchObject({ collected: 4, playersCollected: 1 });
    for (const { ref } of others) await on.play(id, ref, 10);
    expect((await on.listed(id)).calibration).toMatchObject({ collected: 7, playersCollected: 4 });
    await on.play(id, others[0]?.ref ?? '', 10);
    expect(await on.listed(id)).toMatchObject({ status: 'live', threshold: 10 });
    const shown = expectStatus(200, await world.operator.getCalibration(id)).body;
    expect(shown).toMatchObject({ samples: 8, players: 4, fair_share: 4, required: { samples: 8, players: 4 } });
  });

  test('enough scores of too few players do not complete a calibration', async () => {
    const { id } = await on.calibrating({ ...TERMS, min_calibration_n: 4 });
    for (const { ref } of await on.newPlayers(3)) {
      await on.play(id, ref, 10);
      await on.play(id, ref, 20);
    }
    expect(await on.listed(id)).toMatchObject({
      status: 'calibrating',
      calibration: { collected: 6, required: 4, playersCollected: 3, playersRequired: 4 },
    });
    await on.play(id, (await on.newPlayers(1))[0]?.ref ?? '', 30);
    expect((await on.listed(id)).status).toBe('live');
  });

  test('a score outside the plausible window is refused and does not count', async () => {
    const { id } = await on.calibrating({ ...TERMS, score_min: 0, score_max: 100 });
    const attempt = await on.start(id, 'no-account');
    for (const score of [101, -1, 50]) {
      expectError(422, 'score_out_of_range', await world.partner.reportOutcome(attempt.id, { score }));
    }
    expect((await on.listed(id)).calibration).toMatchObject({ collected: 0, playersCollected: 0 });
  });

  test('free attempts that settle in parallel count once each', async () => {
    const { id } = await on.calibrating({ min_calibration_n: 30, min_calibration_players: 10, target_pass_rate: 0.2 });
    const attempts = await Promise.all(
      Array.from({ length: 60 }, (_, index) => on.start(id, `parallel-${id}-${index % 20}`)),
    );
    const outcomes = await Promise.all(attempts.map((attempt, index) => on.report(attempt.id, index)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ met_threshold: false, threshold_applied: null });
    const { samples, players, bar, histogram } = expectStatus(200, await world.operator.getCalibration(id)).body;
    // One commit may settle more scores than were still needed.
    expect(samples).toBeGreaterThanOrEqual(30);
    expect(players).toBeGreaterThanOrEqual(10);
    expect(histogram.reduce((sum, bin) => sum + bin.samples, 0)).toBe(samples);
    const counted = await world.stack
      .database('challenge')
      .query<{ score: number }>('select score from bar_samples where challenge_id = $1 order by score desc', [id]);
    expect(counted).toHaveLength(samples);
    expect(bar).toBe(counted[Math.round(0.2 * samples) - 1]?.score);
    expect(await on.listed(id)).toMatchObject({ status: 'live', threshold: bar });
  });

  test('an attempt that was free when the challenge went live stays free', async () => {
    const { id } = await on.calibrating({ min_calibration_n: 2, min_calibration_players: 2, target_pass_rate: 0.5 });
    const open = await on.start(id, 'early');
    await on.play(id, 'one', 10);
    await on.play(id, 'two', 20);
    expect(await on.listed(id)).toMatchObject({ status: 'live', threshold: 20 });
    expect(await on.report(open.id, 1000)).toMatchObject({
      met_threshold: false,
      threshold_applied: null,
      award: null,
    });
    expect(expectStatus(200, await world.operator.getCalibration(id)).body.samples).toBe(2);
  });

  test('the operator sees the samples, quantiles, histogram and bar of a calibration', async () => {
    const { id } = await on.calibrating({ min_calibration_n: 40, min_calibration_players: 10, target_pass_rate: 0.2 });
    const empty = expectStatus(200, await world.operator.getCalibration(id)).body;
    expect(empty).toEqual({
      challenge_id: id,
      samples: 0,
      players: 0,
      fair_share: 8,
      required: { samples: 40, players: 10 },
      quantiles: [],
      histogram: [],
      bar: null,
      bar_interval: null,
      seeded: null,
    });
    const played = Array.from({ length: 40 }, (_, index) => on.play(id, `seen-${id}-${index % 10}`, index + 1));
    await Promise.all(played);
    const shown = expectStatus(200, await world.operator.getCalibration(id)).body;
    expect(shown).toMatchObject({ samples: 40, players: 10, bar: 33, seeded: null });
    expect(shown.quantiles.map(({ share }) => share)).toEqual([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]);
    const scores = shown.quantiles.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((one, two) => one - two));
    expect(shown.histogram.at(0)?.from).toBe(1);
    expect(shown.histogram.at(-1)?.to).toBe(40);
    expect(shown.histogram.reduce((sum, bin) => sum + bin.samples, 0)).toBe(40);
    const { low, high } = shown.bar_interval ?? expect.fail('no interval');
    expect(low).toBeLessThan(33);
    expect(high).toBeGreaterThan(33);
    const { changes } = expectStatus(200, await world.operator.getDrift(id)).body;
    expect(changes).toMatchObject([{ from: 'calibrating', to: 'live', cause: 'calibrated', note: null }]);
  });

  test('a calibration needs 200 scores unless its target pass rate asks for more', async () => {
    expect((await on.calibrating({ target_pass_rate: 0.5 })).calibration?.required).toBe(200);
    expect((await on.calibrating({ target_pass_rate: 0.07 })).calibration?.required).toBe(572);
    expect((await on.calibrating({ target_pass_rate: 0.07, min_calibration_n: 30 })).calibration?.required).toBe(30);
  });

  test('a challenge shows its calibration only while it calibrates', async () => {
    const { id } = await on.calibrating();
    expect(await on.listed(id)).toHaveProperty('calibration');
    for (const [status, shows] of [
      ['suspended', false],
      ['live', true],
      ['closed', false],
    ] as const) {
      expectStatus(200, await world.operator.updateChallenge(id, { status }));
      const challenge = await on.listed(id);
      expect('calibration' in challenge, status).toBe(shows);
      for (const field of HIDDEN) expect(challenge).not.toHaveProperty(field);
    }
  });

  test('a top_n challenge shows its calibration until it has n scores', async () => {
    const { id } = await on.calibrating({ prize_structure: 'top_n', top_n: 2, prize: '12.00', integrity_tier: 1 });
    expectError(400, 'invalid_request', await world.partner.seedChallenge(id, SEED));
    await on.play(id, 'first', 10);
    expect(await on.listed(id)).toMatchObject({
      status: 'calibrating',
      fee: '0.00',
      calibration: { collected: 1, required: 2, playersCollected: 1, playersRequired: 1 },
    });
    await on.play(id, 'second', 20);
    const live = await on.listed(id);
    expect(live).toMatchObject({ status: 'live', threshold: 10, fee: '1.00', prize: '12.00' });
    for (const field of ['calibration', 'ramp', ...HIDDEN]) expect(live).not.toHaveProperty(field);
    expect(expectStatus(200, await world.operator.getDrift(id)).body).toMatchObject({ started_at: null, changes: [] });
  });

  test('the audit finds no violation after the calibrations', () => world.expectAuditOk());
});
