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

  /** The distribution with a body as text, or with another key of the API. */
  function send(challengeId: string, raw: string, key: string | undefined = randomUUID(), partner = world.partner) {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    return partner.send('POST', `/v1/challenges/${challengeId}/distribution`, { raw, headers });
  }

  function expectReplay(replay: Answer<unknown>, original: Answer<unknown>): void {
    expect({ status: replay.status, text: replay.text }).toEqual({ status: original.status, text: original.text });
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(original.headers['idempotency-replayed']).toBeUndefined();
  }

  describe('a distribution that is accepted', () => {
    test('a distribution sets the bar that the target pass rate of its scores clear, and the challenge is live', async () => {
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
      // 20 % of the ceiling of tier 2 are 50.00: nothing is capped.
      expect(challenge).not.toHaveProperty('ramp');
    });

    test.each([
      ['higher_is_better', 0.5, 50],
      ['higher_is_better', 0.4, 58],
      ['higher_is_better', 0.01, 110],
      ['higher_is_better', 0.99, 10],
      ['lower_is_better', 0.2, 25],
      ['lower_is_better', 0.5, 50],
      ['lower_is_better', 0.01, 10],
      ['lower_is_better', 0.99, 110],
    ])('where %s, a target pass rate of %d has the bar %d', async (direction, target, bar) => {
      const { id } = await calibrating({ threshold_direction: direction, target_pass_rate: target });
      const { threshold } = expectStatus(201, await world.partner.seedChallenge(id, BODY)).body;
      expect(threshold).toBeCloseTo(bar, 9);
      expect((await listed(id)).threshold).toBe(threshold);
    });

    test('a prize above a fifth of the ceiling is capped after seeding, and a win pays the capped prize', async () => {
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

    test('an attempt that was free when the challenge was seeded wins nothing, whatever its score', async () => {
      const { id } = await calibrating();
      const attempt = expectStatus(
        201,
        await world.partner.createAttempt({ challenge_id: id, player_ref: randomUUID() }),
      ).body;
      expect(attempt.fee_charged).toBe('0.00');
      expectStatus(201, await world.partner.seedChallenge(id, BODY));
      const settled = expectStatus(200, await world.partner.reportOutcome(attempt.id, { score: 1000 })).body;
      expect(settled).toMatchObject({ met_threshold: false, threshold_applied: null, award: null });
    });

    test('a bar on the edge of the plausible window can be cleared, and is set', async () => {
      const { id } = await calibrating({ target_pass_rate: 0.2, score_min: 0, score_max: 80 });
      expect(expectStatus(201, await world.partner.seedChallenge(id, BODY)).body.threshold).toBe(80);
    });

    test('the operator sees the percentiles of a seeded challenge, and what made it live', async () => {
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
    const withPercentiles = (change: object) =>
      JSON.stringify({ ...BODY, distribution: { ...PERCENTILES, ...change } });
    const withSize = (size: string) => `{"distribution":${JSON.stringify(PERCENTILES)},"sample_size":${size}}`;

    test.each<[string, string]>([
      ['no body', ''],
      ['a list', '[]'],
      ['nothing in it', '{}'],
      ['no distribution', '{"sample_size":500}'],
      ['no sample size', JSON.stringify({ distribution: PERCENTILES })],
      ...Object.keys(PERCENTILES).map(
        (name) => [`no ${name}`, withPercentiles({ [name]: undefined })] as [string, string],
      ),
      ['a percentile that is text', withPercentiles({ p50: '50' })],
      ['a percentile that is null', withPercentiles({ p50: null })],
      ['NaN', withSize('500').replace('50,', 'NaN,')],
      ['an infinite percentile', withSize('500').replace('110', '1e309')],
      ['two equal percentiles', withPercentiles({ p25: 10 })],
      ['percentiles that are equal as doubles', withSize('500').replace('"p5":10', '"p5":29.99999999999999999999')],
      ['descending percentiles', withPercentiles({ p75: 49 })],
      ['a sample of 499', withSize('499')],
      ['a sample of a half', withSize('500.5')],
      ['a sample size that is text', withSize('"500"')],
      ['a sample size that no double holds', withSize('9007199254740993')],
    ])('a distribution with %s is 400, and the challenge goes on calibrating', async (_what, raw) => {
      const { id } = await calibrating();
      expectError(400, 'invalid_request', await send(id, raw));
      expect((await listed(id)).status).toBe('calibrating');
    });

    test.each([
      ['missing', undefined],
      ['empty', ''],
      ['256 characters long', 'k'.repeat(256)],
    ])('an Idempotency-Key that is %s is 400, and the challenge goes on calibrating', async (_what, key) => {
      const { id } = await calibrating();
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
      const path = `/v1/challenges/${id}/distribution`;
      expectError(400, 'invalid_request', await world.partner.send('POST', path, { body: BODY, headers }));
      expect((await listed(id)).status).toBe('calibrating');
    });

    test('only a calibrating challenge of the program and environment is seeded: any other is 400, never 404', async () => {
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
        // No score that could be reported would clear it.
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

    test('a distribution is checked for its API key first, then its own form, then its idempotency key', async () => {
      const { id } = await calibrating();
      const key = randomUUID();
      const path = `/v1/challenges/${id}/distribution`;
      expectError(401, 'unauthorized', await world.http.send('POST', path, { raw: '{' }));
      expectStatus(201, await world.partner.seedChallenge(id, BODY, key));
      expectError(400, 'invalid_request', await send(id, '{}', key));
      expectError(400, 'invalid_request', await send('nonsense', '{}', key));
      expectError(409, 'idempotency_key_reused', await send('nonsense', JSON.stringify(BODY), key));
    });
  });

  describe('a distribution and its Idempotency-Key', () => {
    test('a repeated distribution is replayed byte for byte, also written differently and once attempts were made', async () => {
      const { id } = await calibrating();
      const key = randomUUID();
      const first = expectStatus(201, await world.partner.seedChallenge(id, BODY, key));
      expectReplay(await world.partner.seedChallenge(id, BODY, key), first);
      const player = await world.newPlayer();
      expectStatus(201, await world.partner.createAttempt({ challenge_id: id, player_ref: player.ref }));
      const spelled = '{"sample_size":5e2, "distribution":{"p95":110.0,"p75":70,"p50":50,"p25":30,"p5":1e1}}';
      expectReplay(await send(id.toUpperCase(), spelled, key), first);
    });

    test('a reused key is 409 with another distribution and on another challenge, which goes on calibrating', async () => {
      const [one, two] = [await calibrating(), await calibrating()];
      const key = randomUUID();
      const first = expectStatus(201, await world.partner.seedChallenge(one.id, BODY, key));
      const reused = 'idempotency_key_reused';
      expectError(409, reused, await world.partner.seedChallenge(one.id, { ...BODY, sample_size: 501 }, key));
      expectError(409, reused, await world.partner.seedChallenge(two.id, BODY, key));
      expect((await listed(two.id)).status).toBe('calibrating');
      expectReplay(await world.partner.seedChallenge(one.id, BODY, key), first);
    });

    test('a refused distribution frees its key', async () => {
      const { id } = await calibrating();
      const key = randomUUID();
      expectError(400, 'invalid_request', await world.partner.seedChallenge(randomUUID(), BODY, key));
      expectStatus(201, await world.partner.seedChallenge(id, BODY, key));
    });

    test('a repeat is 409 with Retry-After while the original runs, and a replay once it is done', async () => {
      const { id } = await calibrating();
      const key = randomUUID();
      world.stack.arm('gateway.seed.before-call', 'delay:1500');
      const original = world.partner.seedChallenge(id, BODY, key);
      await eventually(async () => world.stack.isFired('gateway.seed.before-call') || undefined, 'the delay began');
      const meanwhile = await world.partner.seedChallenge(id, BODY, key);
      expectError(409, 'idempotency_in_progress', meanwhile);
      expect(Number(meanwhile.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      const first = expectStatus(201, await original);
      expectReplay(await world.partner.seedChallenge(id, BODY, key), first);
    });

    test('of 40 parallel distributions with one key one runs, and with keys of their own one sets the bar', async () => {
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

    test('without its idempotency records the gateway answers a repeated distribution as itself, and another one 409', async () => {
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
      // From now on the gateway knows it again.
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
    ] as const)('after %s: %s, the same request sets the bar once', async (failpoint, action) => {
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

  test('the audit is good after the distributions', () => world.expectAuditOk());
});
