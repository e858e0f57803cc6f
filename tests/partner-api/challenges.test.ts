import { randomUUID } from 'node:crypto';
import type { Challenge } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, liveTerms, type SharedWorld } from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('GET /v1/challenges', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** The ids that the default list shows to a player. */
  async function listed(ref: string, status?: 'all', partner = world.partner): Promise<string[]> {
    return expectStatus(200, await partner.listChallenges(ref, status)).body.data.map((challenge) => challenge.id);
  }

  test('the challenge list shows a live challenge with exactly its fields', async () => {
    const program = await world.newProgram();
    const challenge = await world.newChallenge({ name: 'Speed run', description: 'As fast as you can' }, program);
    const answer = expectStatus(200, await program.test.listChallenges('anyone'));
    expect(answer.body).toEqual({
      data: [
        {
          id: challenge.id,
          name: 'Speed run',
          description: 'As fast as you can',
          fee: '1.00',
          prize: '5.00',
          currency: 'USD',
          status: 'live',
          prize_structure: 'threshold',
          threshold: 100,
          min_calibration_n: 200,
          calibration_source: 'observed',
          metric_name: 'points',
          metric_unit: 'points',
          rung: 1,
          parent_challenge_id: null,
        },
      ],
    });
    expect(challenge.id).toMatch(UUID);
  });

  test('the challenge list shows null for a missing description', async () => {
    const program = await world.newProgram();
    await world.newChallenge({}, program);
    const answer = expectStatus(200, await program.test.listChallenges('anyone'));
    expect(answer.body.data[0]?.description).toBeNull();
  });

  test('a calibrating challenge is listed without a bar, and only with status=all', async () => {
    const program = await world.newProgram();
    const terms = liveTerms({ status: 'calibrating', min_calibration_n: 7, min_calibration_players: 3 });
    delete terms.threshold;
    const challenge = expectStatus(201, await world.operator.createChallenge(program.id, terms)).body;
    expect(await listed('anyone', undefined, program.test)).toEqual([]);
    const all = expectStatus(200, await program.test.listChallenges('anyone', 'all')).body.data;
    expect(all).toEqual([
      expect.objectContaining({
        id: challenge.id,
        status: 'calibrating',
        fee: '0.00',
        threshold: null,
        min_calibration_n: 7,
        calibration: { collected: 0, required: 7, playersCollected: 0, playersRequired: 3 },
      }),
    ]);
    for (const hidden of ['calibration_players', 'min_calibration_players', 'ramp_completed_at']) {
      expect(all[0]).not.toHaveProperty(hidden);
    }
  });

  test('suspended and closed challenges are listed only with status=all', async () => {
    const program = await world.newProgram();
    const suspended = await world.newChallenge({}, program);
    const closed = await world.newChallenge({}, program);
    const live = await world.newChallenge({}, program);
    expectStatus(200, await world.operator.updateChallenge(suspended.id, { status: 'suspended' }));
    expectStatus(200, await world.operator.updateChallenge(closed.id, { status: 'closed' }));
    expect(await listed('anyone', undefined, program.test)).toEqual([live.id]);
    const all = expectStatus(200, await program.test.listChallenges('anyone', 'all')).body.data;
    const statuses = Object.fromEntries(all.map((challenge: Challenge) => [challenge.id, challenge.status]));
    expect(statuses).toEqual({ [suspended.id]: 'suspended', [closed.id]: 'closed', [live.id]: 'live' });
  });

  test('the default challenge list omits a claimed challenge for every ref of the account', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const otherRef = `other-${randomUUID()}`;
    expectStatus(201, await world.partner.linkPlayer(otherRef, player.email));
    expect(await listed(player.ref)).toContain(challenge.id);
    const attempt = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }),
    );
    expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 100 }));
    expect(await listed(player.ref)).not.toContain(challenge.id);
    expect(await listed(otherRef)).not.toContain(challenge.id);
    expect(await listed(player.ref, 'all')).toContain(challenge.id);
    expect(await listed('somebody-else')).toContain(challenge.id);
  });

  test('the default challenge list omits a challenge at its daily cap', async () => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 1 });
    const player = await world.newPlayer();
    expectStatus(201, await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
    expect(await listed(player.ref)).not.toContain(challenge.id);
    expect(await listed(player.ref, 'all')).toContain(challenge.id);
  });

  test('the default challenge list omits a challenge whose prize is above its tier ceiling', async () => {
    const program = await world.newProgram();
    const created = await world.operator.createChallenge(program.id, liveTerms({ integrity_tier: 1, prize: '25.01' }));
    expectStatus(201, created);
    expect(await listed('anyone', undefined, program.test)).toEqual([]);
    expect(await listed('anyone', 'all', program.test)).toEqual([created.body.id]);
  });

  test.each([
    ['self-excluded', {}, { self_excluded_until: '2999-01-01T00:00:00.000Z' }],
    ['blocked', {}, { blocked: true }],
    ['under age', { date_of_birth: '2015-01-01' }, {}],
  ] as const)('the default challenge list is empty for a player who is %s', async (_what, account, changes) => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer({ account });
    if (Object.keys(changes).length > 0) {
      expectStatus(200, await world.operator.updateAccount(player.accountId, changes));
    }
    expect(await listed(player.ref)).toEqual([]);
    expect(await listed(player.ref, 'all')).toContain(challenge.id);
  });

  test('the default challenge list omits a challenge for a player below its verification level', async () => {
    const program = await world.newProgram();
    const strict = await world.newChallenge({ required_verification_level: 2 }, program);
    const easy = await world.newChallenge({ required_verification_level: 1 }, program);
    const low = await world.newPlayer({ partner: program.test, account: { verification_level: 1 } });
    const high = await world.newPlayer({ partner: program.test, account: { verification_level: 2 } });
    expect(await listed(low.ref, undefined, program.test)).toEqual([easy.id]);
    expect((await listed(high.ref, undefined, program.test)).sort()).toEqual([strict.id, easy.id].sort());
  });

  test('the challenge list applies the jurisdiction only in live', async () => {
    const program = await world.newProgram();
    const live = await world.newChallenge({ environment: 'live', jurisdictions: ['US-NY'] }, program);
    const sandbox = await world.newChallenge({ environment: 'test', jurisdictions: ['US-NY'] }, program);
    const player = await world.newPlayer({ partner: program.live, environment: 'live' });
    const facts = { email: player.email, jurisdiction: 'US-CA' };
    expectStatus(201, await program.test.createPlayer(player.ref, undefined, facts));
    expect(await listed(player.ref, undefined, program.live)).toEqual([]);
    expect(await listed(player.ref, 'all', program.live)).toEqual([live.id]);
    expect(await listed(player.ref, undefined, program.test)).toEqual([sandbox.id]);
  });

  test('POST /v1/attempts accepts exactly the challenges of the default list, apart from funds', async () => {
    const program = await world.newProgram();
    const parent = await world.newChallenge({ name: 'Rung 1' }, program);
    const rung = await world.newChallenge({ name: 'Rung 2', parent_challenge_id: parent.id }, program);
    const suspended = await world.newChallenge({}, program);
    expectStatus(200, await world.operator.updateChallenge(suspended.id, { status: 'suspended' }));
    const capped = await world.newChallenge({ daily_attempt_cap: 1 }, program);
    const strict = await world.newChallenge({ required_verification_level: 3 }, program);
    const player = await world.newPlayer({ partner: program.test });
    expectStatus(201, await program.test.createAttempt({ challenge_id: capped.id, player_ref: player.ref }));

    const visible = new Set(await listed(player.ref, undefined, program.test));
    for (const challenge of [parent, rung, suspended, capped, strict]) {
      const answer = await program.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
      expect({ id: challenge.id, accepted: answer.status === 201 }).toEqual({
        id: challenge.id,
        accepted: visible.has(challenge.id),
      });
    }
  });

  test('the challenge list for an unknown player_ref has every live challenge', async () => {
    const program = await world.newProgram();
    const challenge = await world.newChallenge({}, program);
    expect(await listed(randomUUID(), undefined, program.test)).toEqual([challenge.id]);
  });

  test('the challenge list is empty for a program without challenges', async () => {
    const program = await world.newProgram();
    expect(expectStatus(200, await program.test.listChallenges('anyone')).body).toEqual({ data: [] });
  });

  test('the challenge list accepts a player_ref of 255 characters of any script', async () => {
    for (const ref of ['x'.repeat(255), 'ü'.repeat(255), '選手'.repeat(127), "o'brien & co; drop table", ' spaced ']) {
      expectStatus(200, await world.partner.listChallenges(ref));
    }
  });

  test.each([
    ['no player_ref', '/v1/challenges'],
    ['an empty player_ref', '/v1/challenges?player_ref='],
    ['a player_ref of 256 characters', `/v1/challenges?player_ref=${'x'.repeat(256)}`],
    ['a player_ref with NUL', '/v1/challenges?player_ref=a%00b'],
    ['two player_refs', '/v1/challenges?player_ref=a&player_ref=b'],
    ['a player_ref object', '/v1/challenges?player_ref[a]=b'],
    ['an unknown status', '/v1/challenges?player_ref=a&status=nonsense'],
    ['broken percent encoding', '/v1/challenges?player_ref=%E0%A4%A'],
  ])('the challenge list answers 400 to %s', async (_what, path) => {
    expectError(400, 'invalid_request', await world.partner.send('GET', path));
  });

  test('the audit finds no violation after the lists of challenges', () => world.expectAuditOk());
});
