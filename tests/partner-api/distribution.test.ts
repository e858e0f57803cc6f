import { randomUUID } from 'node:crypto';
import type { Challenge, DistributionRequest } from '@laurel/sdk';
import type { Answer, ChallengeTerms } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectError, expectStatus, type Program, startWorld, type World } from '../world.ts';

const TAKEOVER_SECONDS = 3;
const PERCENTILES = { p5: 10, p25: 30, p50: 50, p75: 70, p95: 110 };
const BODY: DistributionRequest = { distribution: PERCENTILES, sample_size: 500 };

describe('POST /v1/challenges/{id}/distribution', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      failpoints: true,
      environment: { gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: String(TAKEOVER_SECONDS) } },
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const calibrating = (terms: ChallengeTerms = {}, program?: Program) =>
    world.newChallenge({ status: 'calibrating', threshold: null, ...terms }, program);

  async function listed(challengeId: string): Promise<Challenge> {
    const all = expectStatus(200, await world.partner.listChallenges('anyone', 'all')).body.data;
    return all.find(({ id }) => id === challengeId) ?? expect.fail(`${challengeId} is not listed`);
  }

  function expectReplay(replay: Answer<unknown>, original: Answer<unknown>): void {
    expect({ status: replay.status, text: replay.text }).toEqual({ status: original.status, text: original.text });
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(original.headers['idempotency-replayed']).toBeUndefined();
  }

  describe('a distribution that is accepted', () => {
    test('a distribution sets the bar for the target pass rate and makes the challenge live', async () => {
      const { id } = await calibrating({ target_pass_rate: 0.2 });
      const seeded = expectStatus(201, await world.partner.seedChallenge(id, BODY));
      expect(seeded.body).toEqual({
        challenge_id: id,
        threshold: 80,
        target_pass_rate: 0.2,
        sample_size: 500,
        calibration_source: 'partner_seeded',
        provisional: true,
        note: expect.stringMatching(/./),
      });
      const challenge = await listed(id);
      expect(challenge).toMatchObject({ status: 'live', threshold: 80, calibration_source: 'partner_seeded' });
      expect(challenge).toMatchObject({ fee: '1.00', prize: '5.00' });
      expect(challenge).not.toHaveProperty('calibration');
      // 20 % of tier 2's ceiling is 50.00: nothing is capped.
      expect(challenge).not.toHaveProperty('ramp');
    });

    test('a prize above a fifth of the ceiling is capped after seeding', async () => {
      const { id } = await calibrating({ prize: '12.00', integrity_tier: 1 });
      expect((await listed(id)).prize).toBe('12.00');
      expectStatus(201, await world.partner.seedChallenge(id, BODY));
      expect(await listed(id)).toMatchObject({
        prize: '5.00',
        ramp: { active: true, fullPrize: '12.00', attemptsSeen: 0, attemptsRequired: 100 },
      });
      const player = await world.newPlayer();
      const entry = { challenge_id: id, player_ref: player.ref };
      const attempt = expectStatus(201, await world.partner.createAttempt(entry)).body;
      const won = expectStatus(200, await world.partner.reportOutcome(attempt.id, { score: 80 })).body;
      expect(won).toMatchObject({ met_threshold: true, threshold_applied: 80, award: { amount: '5.00' } });
      expect(await world.balance(player)).toBe('104.00');
    });

    test('the operator sees the percentiles of a seeded challenge', async () => {
      const { id } = await calibrating();
      expectStatus(201, await world.partner.seedChallenge(id, BODY));
      expect(expectStatus(200, await world.operator.getCalibration(id)).body).toMatchObject({
        samples: 0,
        bar: 80,
        bar_interval: null,
        seeded: { ...PERCENTILES, sample_size: 500 },
      });
      expect(expectStatus(200, await world.operator.getDrift(id)).body).toMatchObject({
        status: 'live',
        attempts: 0,
        changes: [{ from: 'calibrating', to: 'live', cause: 'seeded', note: null, evidence: null }],
      });
    });
  });

  describe('a distribution that is refused', () => {
    test('only a calibrating challenge is seeded, and any other is 400', async () => {
      const other = await world.newProgram();
      const suspended = await calibrating();
      expectStatus(200, await world.operator.updateChallenge(suspended.id, { status: 'suspended' }));
      const closed = await calibrating();
      expectStatus(200, await world.operator.updateChallenge(closed.id, { status: 'closed' }));
      const parent = await world.newChallenge();
      const seeded = await calibrating();
      expectStatus(201, await world.partner.seedChallenge(seeded.id, BODY));
      const refusedIds = [
        parent.id,
        seeded.id,
        suspended.id,
        closed.id,
        (await calibrating({ parent_challenge_id: parent.id })).id,
        (await calibrating({ prize_structure: 'top_n', top_n: 3 })).id,
        // No score that can be reported would clear the bar.
        (await calibrating({ score_max: 79 })).id,
        (await calibrating({ score_min: 81 })).id,
        (await calibrating({}, other)).id,
        (await calibrating({ environment: 'live' })).id,
        randomUUID(),
        'nonsense',
      ];
      const before = await world.digest();
      for (const id of refusedIds) expectError(400, 'invalid_request', await world.partner.seedChallenge(id, BODY));
      expect(await world.digest()).toEqual(before);
    });
  });

  describe('a distribution and its Idempotency-Key', () => {
    test('only one of 40 parallel distributions sets the bar', async () => {
      const [one, two] = [await calibrating(), await calibrating()];
      const key = randomUUID();
      const same = await Promise.all(Array.from({ length: 40 }, () => world.partner.seedChallenge(one.id, BODY, key)));
      const done = same.filter(({ status }) => status === 201);
      for (const answer of same) if (answer.status !== 201) expectError(409, 'idempotency_in_progress', answer);
      expect(new Set(done.map(({ text }) => text)).size).toBe(1);

      const own = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          world.partner.seedChallenge(two.id, { ...BODY, distribution: { ...PERCENTILES, p95: 110 + index } }),
        ),
      );
      const set = own.filter(({ status }) => status === 201);
      for (const answer of own) if (answer.status !== 201) expectError(400, 'invalid_request', answer);
      expect(set).toHaveLength(1);
      expect((await listed(two.id)).threshold).toBe(set[0]?.body.threshold);
    });

    test('the gateway replays a repeated distribution without its idempotency records', async () => {
      const { id } = await calibrating();
      const key = randomUUID();
      const first = expectStatus(201, await world.partner.seedChallenge(id, BODY, key));
      const forget = async () => {
        await world.allWritten();
        await world.stack.database('gateway').query('delete from idempotency_records');
      };
      await forget();
      const other = { ...BODY, sample_size: 501 };
      expectError(409, 'idempotency_key_reused', await world.partner.seedChallenge(id, other, key));
      await forget();
      expectReplay(await world.partner.seedChallenge(id, BODY, key), first);
      // From now on the gateway has a record of the key again.
      expectReplay(await world.partner.seedChallenge(id, BODY, key), first);
    });

    test.each([
      ['gateway.seed.before-call', 'kill'],
      ['gateway.seed.after-call', 'kill'],
      ['challenge.seed.before-commit', 'kill'],
      ['challenge.seed.after-commit', 'kill'],
      ['gateway.seed.before-call', 'throw'],
      ['gateway.seed.after-call', 'throw'],
      ['challenge.seed.before-commit', 'throw'],
      ['challenge.seed.after-commit', 'throw'],
    ] as const)('the same request sets the bar once after %s: %s', async (failpoint, action) => {
      const { id } = await calibrating();
      const key = randomUUID();
      const service = failpoint.startsWith('gateway.') ? 'gateway' : 'challenge';
      world.stack.arm(failpoint, action);
      const gone = action === 'kill' ? world.stack.onExit(service) : undefined;
      const first = await world.partner.seedChallenge(id, BODY, key);
      expect(first.status).toBe(action === 'kill' && service === 'gateway' ? 0 : 500);
      await gone;
      if (gone !== undefined) await world.stack.restart(service);
      const seeded = await eventually(async () => {
        const answer = await world.partner.seedChallenge(id, BODY, key);
        return answer.status === 201 ? answer : undefined;
      }, 'the key was taken over');
      expect(seeded.body).toMatchObject({ challenge_id: id, threshold: 80, sample_size: 500 });
      expect((await listed(id)).status).toBe('live');
      const { changes } = expectStatus(200, await world.operator.getDrift(id)).body;
      expect(changes.map(({ cause }) => cause)).toEqual(['seeded']);
    });
  });

  test('the audit finds no violation after the distributions', () => world.expectAuditOk());
});
