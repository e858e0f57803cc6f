import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectError, expectStatus, joinWorld, type Player, type SharedWorld } from '../world.ts';
import { playIn, SEED } from './play.ts';

describe('the drift monitor of a challenge', () => {
  let world: SharedWorld;
  let on: ReturnType<typeof playIn>;
  beforeAll(async () => {
    world = await joinWorld();
    on = playIn(world);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /**
   * Settles attempts of one player that were all open before: a win prevents the player's later
   * attempts, but not open ones.
   */
  async function settleAll(challengeId: string, player: Player, count: number, score: number): Promise<void> {
    const attempts = [];
    for (let index = 0; index < count; index += 1) attempts.push(await on.start(challengeId, player.ref));
    for (const { id } of attempts) await on.report(id, score);
  }

  const untilSuspended = (challengeId: string) =>
    eventually(
      async () => ((await on.listed(challengeId)).status === 'suspended' ? true : undefined),
      'the challenge is suspended',
    );

  test('a challenge whose bar every player clears is suspended with an event', async () => {
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
    // An attempt that was created before the suspension settles by its frozen terms.
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

  test('a challenge whose bar no player clears is suspended during its ramp', async () => {
    const { id } = await on.calibrating({ prize: '12.00', integrity_tier: 1, target_pass_rate: 0.5 });
    expectStatus(201, await world.partner.seedChallenge(id, SEED));
    const player = await world.newPlayer();
    await settleAll(id, player, 99, 0);
    await untilSuspended(id);
    expect(await on.listed(id)).toMatchObject({ prize: '5.00', ramp: { active: true, fullPrize: '12.00' } });
    const drift = expectStatus(200, await world.operator.getDrift(id)).body;
    expect(drift).toMatchObject({ passes: 0, pass_rate: 0 });
    expect(drift.log_ratio_below).toBeGreaterThan(drift.log_limit);
    expect(drift.changes.map(({ cause }) => cause)).toEqual(['seeded', 'drift']);
  });

  test('a challenge that the operator suspended is reinstated without a note', async () => {
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

  test('a calibrating challenge has no monitor', async () => {
    const { id } = await on.calibrating();
    expect(expectStatus(200, await world.operator.getDrift(id)).body).toMatchObject({
      status: 'calibrating',
      started_at: null,
      attempts: 0,
      pass_rate: null,
      readings: [],
      changes: [],
    });
  });

  test('the audit finds no violation after the suspensions', () => world.expectAuditOk());
});
