import { randomUUID } from 'node:crypto';
import type { ChallengeBody, ChallengeTerms, OutcomeBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  eventually,
  expectError,
  expectStatus,
  joinWorld,
  liveTerms,
  type Player,
  type SharedWorld,
} from '../world.ts';

const PERCENTILES = { p5: 10, p25: 30, p50: 50, p75: 70, p95: 110 };
/** Its bar, at a target pass rate of 0.2. */
const SEED = { distribution: PERCENTILES, sample_size: 500 };
const SEEDED_BAR = 80;
/** The fields of a challenge that are never in an answer. */
const HIDDEN = ['calibration_players', 'min_calibration_players', 'ramp_completed_at'];

describe('the life of a challenge', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const calibrating = (terms: ChallengeTerms = {}) =>
    world.newChallenge({ status: 'calibrating', threshold: null, ...terms });

  async function listed(challengeId: string, ref = 'anyone'): Promise<ChallengeBody> {
    const all = expectStatus(200, await world.partner.listChallenges(ref, 'all')).body.data;
    return all.find(({ id }) => id === challengeId) ?? expect.fail(`${challengeId} is not listed`);
  }

  async function start(challengeId: string, ref: string) {
    return expectStatus(201, await world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref })).body;
  }

  async function report(attemptId: string, score: number): Promise<OutcomeBody> {
    return expectStatus(200, await world.partner.reportOutcome(attemptId, { score })).body;
  }

  async function play(challengeId: string, ref: string, score: number) {
    const attempt = await start(challengeId, ref);
    return { attempt, outcome: await report(attempt.id, score) };
  }

  const newPlayers = (count: number) => Promise.all(Array.from({ length: count }, () => world.newPlayer()));

  describe('calibration by observed scores', () => {
    const TERMS = { min_calibration_n: 8, min_calibration_players: 4, target_pass_rate: 0.3 };

    test('free attempts of several players calibrate a challenge, and the outcome that completes it makes it live', async () => {
      const { id } = await calibrating(TERMS);
      const refs = (await newPlayers(4)).map(({ ref }) => ref);
      const scores = [10, 80, 20, 70, 30, 60, 40, 50];
      for (const [index, score] of scores.entries()) {
        expect(await listed(id)).toMatchObject({
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
        const { attempt, outcome } = await play(id, refs[index % 4] ?? '', score);
        expect(attempt.fee_charged).toBe('0.00');
        expect(outcome).toMatchObject({ met_threshold: false, threshold_applied: null, award: null });
      }
      // Of 8 scores the second best is the bar that round(0.3 x 8) of them clear.
      const live = await listed(id);
      expect(live).toMatchObject({ status: 'live', threshold: 70, calibration_source: 'observed' });
      expect(live).toMatchObject({ fee: '1.00', prize: '5.00' });
      for (const field of ['calibration', 'ramp', ...HIDDEN]) expect(live).not.toHaveProperty(field);
      const [player] = await newPlayers(1);
      const { attempt, outcome } = await play(id, player?.ref ?? '', 70);
      expect(attempt.fee_charged).toBe('1.00');
      expect(outcome).toMatchObject({ met_threshold: true, threshold_applied: 70, award: { amount: '5.00' } });
    });

    test('where lower is better the bar is taken from the lowest scores', async () => {
      const { id } = await calibrating({ ...TERMS, threshold_direction: 'lower_is_better' });
      const refs = (await newPlayers(4)).map(({ ref }) => ref);
      for (const [index, score] of [10, 80, 20, 70, 30, 60, 40, 50].entries()) {
        await play(id, refs[index % 4] ?? '', score);
      }
      expect(await listed(id)).toMatchObject({ status: 'live', threshold: 20 });
    });

    test('of one player no more than a fair share of the scores counts, whatever refs the player has', async () => {
      const { id } = await calibrating({ ...TERMS, target_pass_rate: 0.7 });
      const [greedy, ...others] = await newPlayers(4);
      const otherRef = `other-${randomUUID()}`;
      expectStatus(201, await world.partner.linkPlayer(otherRef, greedy?.email ?? ''));
      // The share is ceil(2 x 8 / 4).
      for (let count = 0; count < 10; count += 1)
        await play(id, count % 2 === 0 ? (greedy?.ref ?? '') : otherRef, 1000);
      expect((await listed(id)).calibration).toMatchObject({ collected: 4, playersCollected: 1 });
      for (const { ref } of others) await play(id, ref, 10);
      expect((await listed(id)).calibration).toMatchObject({ collected: 7, playersCollected: 4 });
      await play(id, others[0]?.ref ?? '', 10);
      expect(await listed(id)).toMatchObject({ status: 'live', threshold: 10 });
      const shown = expectStatus(200, await world.operator.getCalibration(id)).body;
      expect(shown).toMatchObject({ samples: 8, players: 4, fair_share: 4, required: { samples: 8, players: 4 } });
    });

    test('enough scores of too few players do not calibrate', async () => {
      const { id } = await calibrating({ ...TERMS, min_calibration_n: 4 });
      for (const { ref } of await newPlayers(3)) {
        await play(id, ref, 10);
        await play(id, ref, 20);
      }
      expect(await listed(id)).toMatchObject({
        status: 'calibrating',
        calibration: { collected: 6, required: 4, playersCollected: 3, playersRequired: 4 },
      });
      await play(id, (await newPlayers(1))[0]?.ref ?? '', 30);
      expect((await listed(id)).status).toBe('live');
    });

    test('a score outside the plausible window is refused and does not count', async () => {
      const { id } = await calibrating({ ...TERMS, score_min: 0, score_max: 100 });
      const attempt = await start(id, 'no-account');
      for (const score of [101, -1, 50]) {
        expectError(422, 'score_out_of_range', await world.partner.reportOutcome(attempt.id, { score }));
      }
      expect((await listed(id)).calibration).toMatchObject({ collected: 0, playersCollected: 0 });
    });

    test('free attempts that are settled at once are counted once each, and the bar is taken off exactly those', async () => {
      const { id } = await calibrating({ min_calibration_n: 30, min_calibration_players: 10, target_pass_rate: 0.2 });
      const attempts = await Promise.all(
        Array.from({ length: 60 }, (_, index) => start(id, `parallel-${id}-${index % 20}`)),
      );
      const outcomes = await Promise.all(attempts.map((attempt, index) => report(attempt.id, index)));
      for (const outcome of outcomes) expect(outcome).toMatchObject({ met_threshold: false, threshold_applied: null });
      const { samples, players, bar, histogram } = expectStatus(200, await world.operator.getCalibration(id)).body;
      // What one commit settles together may be more than the last score that was needed.
      expect(samples).toBeGreaterThanOrEqual(30);
      expect(players).toBeGreaterThanOrEqual(10);
      expect(histogram.reduce((sum, bin) => sum + bin.samples, 0)).toBe(samples);
      const counted = await world.stack
        .database('challenge')
        .query<{ score: number }>('select score from bar_samples where challenge_id = $1 order by score desc', [id]);
      expect(counted).toHaveLength(samples);
      expect(bar).toBe(counted[Math.round(0.2 * samples) - 1]?.score);
      expect(await listed(id)).toMatchObject({ status: 'live', threshold: bar });
    });

    test('an attempt that was free when the challenge went live stays free, and its score is no sample', async () => {
      const { id } = await calibrating({ min_calibration_n: 2, min_calibration_players: 2, target_pass_rate: 0.5 });
      const open = await start(id, 'early');
      await play(id, 'one', 10);
      await play(id, 'two', 20);
      expect(await listed(id)).toMatchObject({ status: 'live', threshold: 20 });
      expect(await report(open.id, 1000)).toMatchObject({ met_threshold: false, threshold_applied: null, award: null });
      expect(expectStatus(200, await world.operator.getCalibration(id)).body.samples).toBe(2);
    });

    test('the operator sees the samples, their quantiles and histogram, and the bar between its bounds', async () => {
      const { id } = await calibrating({ min_calibration_n: 40, min_calibration_players: 10, target_pass_rate: 0.2 });
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
      const played = Array.from({ length: 40 }, (_, index) => play(id, `seen-${id}-${index % 10}`, index + 1));
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
      expect((await calibrating({ target_pass_rate: 0.5 })).calibration?.required).toBe(200);
      expect((await calibrating({ target_pass_rate: 0.07 })).calibration?.required).toBe(572);
      expect((await calibrating({ target_pass_rate: 0.07, min_calibration_n: 30 })).calibration?.required).toBe(30);
    });

    test('a challenge shows its calibration only while it calibrates', async () => {
      const { id } = await calibrating();
      expect(await listed(id)).toHaveProperty('calibration');
      for (const [status, shows] of [
        ['suspended', false],
        ['live', true],
        ['closed', false],
      ] as const) {
        expectStatus(200, await world.operator.updateChallenge(id, { status }));
        const challenge = await listed(id);
        expect('calibration' in challenge, status).toBe(shows);
        for (const field of HIDDEN) expect(challenge).not.toHaveProperty(field);
      }
    });
  });

  describe('the ramp', () => {
    const seeded = async (terms: ChallengeTerms = {}) => {
      const { id } = await calibrating({ prize: '12.00', integrity_tier: 1, target_pass_rate: 0.2, ...terms });
      expectStatus(201, await world.partner.seedChallenge(id, SEED));
      return id;
    };

    test('the prize is capped until 100 settled paid attempts confirm the bar, and then is whole', async () => {
      const id = await seeded();
      const winners = await newPlayers(21);
      const loser = await world.newPlayer();
      const early = await start(id, winners[20]?.ref ?? '');
      const settle = async (count: number, from: number) => {
        for (let index = from; index < from + count; index += 1) {
          const isWin = index % 5 === 0;
          const { outcome } = await play(id, (isWin ? winners[index / 5]?.ref : loser.ref) ?? '', isWin ? 80 : 79);
          expect(outcome.award?.amount).toBe(isWin ? '5.00' : undefined);
        }
      };
      const shows = (attemptsSeen: number | undefined) =>
        eventually(async () => {
          const challenge = await listed(id);
          return challenge.ramp?.attemptsSeen === attemptsSeen ? challenge : undefined;
        }, `${attemptsSeen} attempts are seen`);
      await settle(40, 0);
      const ramp = { active: true, fullPrize: '12.00', attemptsSeen: 40, attemptsRequired: 100 };
      expect(await shows(40)).toMatchObject({ prize: '5.00', ramp });
      await settle(59, 40);
      expect(await shows(99)).toMatchObject({ prize: '5.00', ramp: { ...ramp, attemptsSeen: 99 } });
      await settle(1, 99);
      const lifted = await shows(undefined);
      expect(lifted).toMatchObject({ status: 'live', prize: '12.00', threshold: SEEDED_BAR });
      for (const field of ['ramp', ...HIDDEN]) expect(lifted).not.toHaveProperty(field);

      // Created before, it keeps the prize of then.
      expect(await report(early.id, 80)).toMatchObject({ award: { amount: '5.00' } });
      const { outcome } = await play(id, (await world.newPlayer()).ref, 80);
      expect(outcome.award).toMatchObject({ amount: '12.00' });
      const { changes } = expectStatus(200, await world.operator.getDrift(id)).body;
      expect(changes).toMatchObject([
        { cause: 'seeded', from: 'calibrating', to: 'live' },
        { cause: 'ramp', from: 'live', to: 'live', evidence: { attempts: 100, passes: 20, pass_rate: 0.2 } },
      ]);
    });

    test.each([
      [1, '25.00', '5.00'],
      [2, '250.00', '50.00'],
      [3, '2500.00', '500.00'],
    ])('in tier %d a prize of %s is capped at %s, and a prize of the cap has no ramp', async (tier, prize, cap) => {
      const capped = await listed(await seeded({ integrity_tier: tier, prize }));
      expect(capped).toMatchObject({ prize: cap, ramp: { active: true, fullPrize: prize } });
      const whole = await listed(await seeded({ integrity_tier: tier, prize: cap }));
      expect(whole.prize).toBe(cap);
      expect(whole).not.toHaveProperty('ramp');
    });

    test('a challenge that the operator opened with a bar, or that observed its scores, has no ramp', async () => {
      const opened = await world.newChallenge({ prize: '12.00', integrity_tier: 1 });
      const { id } = await calibrating({
        prize: '12.00',
        integrity_tier: 1,
        min_calibration_n: 1,
        min_calibration_players: 1,
      });
      await play(id, 'observed', 1);
      for (const challenge of [await listed(opened.id), await listed(id)]) {
        expect(challenge).toMatchObject({ status: 'live', prize: '12.00', calibration_source: 'observed' });
        expect(challenge).not.toHaveProperty('ramp');
      }
    });
  });

  describe('the drift monitor', () => {
    /** Attempts of one player, all open before the first is settled: a win ends a player's next attempts, not those that are open. */
    async function settleAll(challengeId: string, player: Player, count: number, score: number): Promise<void> {
      const attempts = [];
      for (let index = 0; index < count; index += 1) attempts.push(await start(challengeId, player.ref));
      for (const { id } of attempts) await report(id, score);
    }

    const untilSuspended = (challengeId: string) =>
      eventually(
        async () => ((await listed(challengeId)).status === 'suspended' ? true : undefined),
        'the challenge is suspended',
      );

    test('a bar that everyone clears is suspended with an event, and reinstated with a note', async () => {
      const developer = await world.newDeveloper();
      const hook = await world.newReceiver(developer);
      const { program } = developer;
      const partner = program.test;
      const { id } = await world.newChallenge({ name: 'Too easy' }, program);
      const player = await world.newPlayer({ partner });
      const other = await world.newPlayer({ partner });
      const create = (ref: string) => partner.createAttempt({ challenge_id: id, player_ref: ref });
      const attempts = [];
      for (let count = 0; count < 70; count += 1) attempts.push(expectStatus(201, await create(player.ref)).body);
      const held = expectStatus(201, await create(other.ref)).body;
      for (const attempt of attempts) expectStatus(200, await partner.reportOutcome(attempt.id, { score: 100 }));

      const event = await hook.event('challenge.suspended', id);
      expect(event.json.data).toEqual({ challenge_id: id, name: 'Too easy', test: true });
      expectError(409, 'challenge_not_available', await create(other.ref));
      expect(expectStatus(200, await partner.listChallenges(other.ref)).body.data).toEqual([]);
      const [suspended] = expectStatus(200, await partner.listChallenges(other.ref, 'all')).body.data;
      expect(suspended).toMatchObject({ id, status: 'suspended', threshold: 100 });
      // What was created before settles as it was created.
      const late = expectStatus(200, await partner.reportOutcome(held.id, { score: 100 })).body;
      expect(late).toMatchObject({ met_threshold: true, threshold_applied: 100, award: { amount: '5.00' } });

      const drift = expectStatus(200, await world.operator.getDrift(id)).body;
      expect(drift.status).toBe('suspended');
      expect(drift.attempts).toBeGreaterThanOrEqual(50);
      expect(drift.attempts).toBeLessThanOrEqual(70);
      expect(drift.pass_rate).toBe(1);
      expect(drift.log_ratio_above).toBeGreaterThan(drift.log_limit);
      expect(drift.log_ratio_below).toBeLessThan(0);
      expect(drift.claimed.low).toBeCloseTo(0.2 / 1.5, 12);
      expect(drift.claimed.high).toBeCloseTo(0.3, 12);
      expect(drift.readings.at(-1)).toMatchObject({ attempts: drift.attempts, passes: drift.passes });
      expect(drift.changes.at(-1)).toMatchObject({
        from: 'live',
        to: 'suspended',
        cause: 'drift',
        note: null,
        evidence: { attempts: drift.attempts, passes: drift.passes, log_ratio_above: drift.log_ratio_above },
      });

      expectError(400, 'invalid_request', await world.operator.updateChallenge(id, { status: 'live' }));
      const note = 'The course was too short; it is repaired.';
      expectStatus(200, await world.operator.updateChallenge(id, { status: 'live', note }));
      expectStatus(201, await create((await world.newPlayer({ partner })).ref));
      const again = expectStatus(200, await world.operator.getDrift(id)).body;
      expect(again).toMatchObject({ status: 'live', attempts: 0, passes: 0, pass_rate: null, readings: [] });
      expect(again.changes.at(-1)).toMatchObject({ from: 'suspended', to: 'live', cause: 'operator', note });
      expect(Date.parse(again.started_at ?? '')).toBeGreaterThan(Date.parse(drift.started_at ?? ''));
    });

    test('a bar that no player clears is suspended while it ramps, and the ramp does not lift', async () => {
      const { id } = await calibrating({ prize: '12.00', integrity_tier: 1, target_pass_rate: 0.5 });
      expectStatus(201, await world.partner.seedChallenge(id, SEED));
      const player = await world.newPlayer();
      await settleAll(id, player, 99, 0);
      await untilSuspended(id);
      expect(await listed(id)).toMatchObject({ prize: '5.00', ramp: { active: true, fullPrize: '12.00' } });
      const drift = expectStatus(200, await world.operator.getDrift(id)).body;
      expect(drift).toMatchObject({ passes: 0, pass_rate: 0 });
      expect(drift.log_ratio_below).toBeGreaterThan(drift.log_limit);
      expect(drift.changes.map(({ cause }) => cause)).toEqual(['seeded', 'drift']);
    });

    test('what the operator suspended is reinstated without a note', async () => {
      const { id } = await world.newChallenge();
      const note = 'A complaint.';
      expectStatus(200, await world.operator.updateChallenge(id, { status: 'suspended', note }));
      expectStatus(200, await world.operator.updateChallenge(id, { status: 'live' }));
      const { changes } = expectStatus(200, await world.operator.getDrift(id)).body;
      expect(changes).toMatchObject([
        { from: 'live', to: 'suspended', cause: 'operator', note, evidence: null },
        { from: 'suspended', to: 'live', cause: 'operator', note: null, evidence: null },
      ]);
    });

    test('a challenge that calibrates has no monitor', async () => {
      const { id } = await calibrating();
      expect(expectStatus(200, await world.operator.getDrift(id)).body).toMatchObject({
        status: 'calibrating',
        started_at: null,
        attempts: 0,
        pass_rate: null,
        readings: [],
        changes: [],
      });
    });
  });

  describe('ladders', () => {
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
      const parent = await calibrating({ target_pass_rate: 0.2 });
      expectStatus(201, await world.partner.seedChallenge(parent.id, SEED));
      return parent;
    }

    test('a rung takes its bar from the distribution of its parent, ramps, and opens once the parent is claimed', async () => {
      const parent = await seededParent();
      const rung = expectStatus(201, await world.operator.createChallenge(world.program.id, rungOf(parent))).body;
      const player = await world.newPlayer();
      const shown = await listed(rung.id, player.ref);
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
      const { outcome: lost } = await play(parent.id, player.ref, SEEDED_BAR - 1);
      expect(lost.award).toBeNull();
      expectError(409, 'rung_locked', await world.partner.createAttempt(entry));
      const { outcome: won } = await play(parent.id, player.ref, SEEDED_BAR);
      expect(won.award).not.toBeNull();
      expect(await isOffered()).toBe(true);
      const { outcome } = await play(rung.id, player.ref, 100);
      expect(outcome).toMatchObject({ met_threshold: true, award: { amount: '5.00' } });
    });

    test('a rung of a parent that observed its scores has the bar that its own pass rate of them clears', async () => {
      const parent = await calibrating({ min_calibration_n: 10, min_calibration_players: 5, target_pass_rate: 0.5 });
      for (let score = 1; score <= 10; score += 1) await play(parent.id, `rung-${parent.id}-${score % 5}`, score);
      expect((await listed(parent.id)).threshold).toBe(6);
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
        rungOf(await calibrating()),
        rungOf(await world.newChallenge()),
        rungOf({ id: randomUUID() }),
      ]) {
        const refusal = await world.operator.createChallenge(world.program.id, terms);
        expectError(400, 'invalid_request', refusal);
      }
      const withoutParent = { ...rungOf(parent), parent_challenge_id: null };
      expectError(400, 'invalid_request', await world.operator.createChallenge(world.program.id, withoutParent));
    });

    test('a rung that calibrates by its own scores is free and locked until its parent is claimed', async () => {
      const parent = await world.newChallenge();
      const { id } = await calibrating({ parent_challenge_id: parent.id });
      expectError(
        409,
        'rung_locked',
        await world.partner.createAttempt({ challenge_id: id, player_ref: 'without-account' }),
      );
      expectError(400, 'invalid_request', await world.partner.seedChallenge(id, SEED));
    });
  });

  test('a top_n challenge shows its calibration until it has n scores, and is never seeded, ramped or monitored', async () => {
    const { id } = await calibrating({ prize_structure: 'top_n', top_n: 2, prize: '12.00', integrity_tier: 1 });
    expectError(400, 'invalid_request', await world.partner.seedChallenge(id, SEED));
    await play(id, 'first', 10);
    expect(await listed(id)).toMatchObject({
      status: 'calibrating',
      fee: '0.00',
      calibration: { collected: 1, required: 2, playersCollected: 1, playersRequired: 1 },
    });
    await play(id, 'second', 20);
    const live = await listed(id);
    expect(live).toMatchObject({ status: 'live', threshold: 10, fee: '1.00', prize: '12.00' });
    for (const field of ['calibration', 'ramp', ...HIDDEN]) expect(live).not.toHaveProperty(field);
    expect(expectStatus(200, await world.operator.getDrift(id)).body).toMatchObject({ started_at: null, changes: [] });
  });

  test('the audit is good after the lives of these challenges', () => world.expectAuditOk());
});
