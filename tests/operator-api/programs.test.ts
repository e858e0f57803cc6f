import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, liveTerms, startWorld, type World } from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('programs, accounts and challenges of /api/operator', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the operator opens a program as a draft with a test key, and gets its live key at approval', async () => {
    const created = expectStatus(201, await world.operator.createProgram('Arena')).body;
    expect(created).toMatchObject({ id: expect.stringMatching(UUID), name: 'Arena', status: 'draft' });
    expect(created.test_key).toMatch(/^sk_test_[0-9A-Za-z]{40,}$/);
    const approved = expectStatus(200, await world.operator.approveProgram(created.id)).body;
    expect(approved).toMatchObject({ id: created.id, status: 'approved' });
    expect(approved.live_key).toMatch(/^sk_live_[0-9A-Za-z]{40,}$/);
    const read = expectStatus(200, await world.operator.send('GET', `/programs/${created.id}`)).body;
    expect(read).toMatchObject({
      id: created.id,
      name: 'Arena',
      status: 'approved',
      keys: expect.arrayContaining(
        [created.test_key, approved.live_key].map((key) => ({
          environment: key.slice(3, 7),
          prefix: expect.any(String),
          last4: key.slice(-4),
          created_at: expect.stringMatching(TIMESTAMP),
          last_used_at: null,
        })),
      ),
    });
    const list = await world.operator.send<{ data: { id: string }[] }>('GET', '/programs');
    expect(expectStatus(200, list).body.data.map((program) => program.id)).toContain(created.id);
  });

  test('the operator opens one developer account per e-mail', async () => {
    const email = `${randomUUID()}@example.com`;
    const body = { email, password: 'correct horse battery staple' };
    const created = await world.operator.send<{ id: string }>('POST', '/developers', { body });
    expect(expectStatus(201, created).body).toEqual({ id: expect.stringMatching(UUID), email });
    expectError(409, 'conflict', await world.operator.send('POST', '/developers', { body }));
    const program = { name: 'Owned', developer_id: created.body.id };
    expectStatus(201, await world.operator.send('POST', '/programs', { body: program }));
  });

  test('the operator opens one person’s account per e-mail, in any case', async () => {
    const email = `${randomUUID()}@example.com`;
    const account = { email, date_of_birth: '1990-02-28', jurisdiction: 'US-CA', verification_level: 2 };
    const created = expectStatus(201, await world.operator.createAccount(account)).body;
    expect(created).toMatchObject({ id: expect.stringMatching(UUID), ...account });
    const again = { ...account, email: email.toUpperCase() };
    expectError(409, 'conflict', await world.operator.createAccount(again));
  });

  test.each([
    ['a date that is none', { date_of_birth: '1990-02-30' }],
    ['a date in another form', { date_of_birth: '30.02.1990' }],
    ['a verification level of 4', { verification_level: 4 }],
    ['a verification level of 1.5', { verification_level: 1.5 }],
    ['a day before 1900', { date_of_birth: '1899-12-31' }],
    ['a day in the first year', { date_of_birth: '0001-01-01' }],
    ['no e-mail', { email: '' }],
    ['an e-mail without @', { email: 'nonsense' }],
    ['no jurisdiction', { jurisdiction: '' }],
  ])('the operator cannot open an account with %s', async (_what, changes) => {
    const before = await world.digest();
    const account = {
      email: `${randomUUID()}@example.com`,
      date_of_birth: '1990-01-01',
      jurisdiction: 'US-CA',
      verification_level: 1,
      ...changes,
    };
    expectError(400, 'invalid_request', await world.operator.createAccount(account));
    expect(await world.digest()).toEqual(before);
  });

  test('a self-exclusion whose end could not be read back is refused and changes nothing, and the last one that can be excludes', async () => {
    const player = await world.newPlayer();
    const challenge = await world.newChallenge();
    const change = (changes: object) => world.operator.updateAccount(player.accountId, changes);
    const before = await world.digest();
    const ends = [
      '9999-12-31T23:59:59-05:00',
      '9999-01-01T00:00:00.001Z',
      '1899-12-31T23:59:59.999Z',
      '0001-01-01T00:00:00Z',
    ];
    for (const self_excluded_until of ends) {
      expectError(400, 'invalid_request', await change({ self_excluded_until, blocked: true }));
    }
    expect(await world.digest()).toEqual(before);
    const until = '9999-01-01T00:00:00.000Z';
    expect(expectStatus(200, await change({ self_excluded_until: until })).body.self_excluded_until).toBe(until);
    const play = { challenge_id: challenge.id, player_ref: player.ref };
    expectError(403, 'blocked', await world.partner.createAttempt(play));
    expect(expectStatus(200, await change({ blocked: true })).body).toMatchObject({ blocked: true });
  });

  test('the operator’s change of an account’s eligibility affects only the fields that are sent', async () => {
    const player = await world.newPlayer();
    const until = '2999-01-01T00:00:00.000Z';
    const change = (changes: object) => world.operator.updateAccount(player.accountId, changes);
    expect(expectStatus(200, await change({ self_excluded_until: until })).body).toMatchObject({
      self_excluded_until: until,
      enforcement_flag: false,
      under_investigation: false,
      blocked: false,
      verification_level: 1,
    });
    expect(expectStatus(200, await change({ enforcement_flag: true, verification_level: 3 })).body).toMatchObject({
      self_excluded_until: until,
      enforcement_flag: true,
      verification_level: 3,
    });
    expect(expectStatus(200, await change({ self_excluded_until: null })).body).toMatchObject({
      self_excluded_until: null,
      enforcement_flag: true,
    });
    expectError(400, 'invalid_request', await change({ blocked: 'yes' }));
    expectError(404, 'not_found', await world.operator.updateAccount(randomUUID(), { blocked: true }));
  });

  test.each([
    ['no name', { name: '' }],
    ['a fee of nothing', { fee: '0.00' }],
    ['a fee with one decimal', { fee: '1.0' }],
    ['a fee as a number', { fee: 1 }],
    ['a negative prize', { prize: '-5.00' }],
    ['an unknown direction', { threshold_direction: 'sideways' }],
    ['a pass rate of 0', { target_pass_rate: 0 }],
    ['a pass rate of 1', { target_pass_rate: 1 }],
    ['tier 4', { integrity_tier: 4 }],
    ['tier 0', { integrity_tier: 0 }],
    ['live without a threshold', { threshold: undefined }],
    ['an unknown environment', { environment: 'staging' }],
    ['an unknown status', { status: 'nonsense' }],
    ['a window upside down', { score_min: 10, score_max: 1 }],
    ['a negative cap', { daily_attempt_cap: -1 }],
    ['a parent that is no id', { parent_challenge_id: 'nonsense' }],
    ['an unknown prize structure', { prize_structure: 'lottery' }],
    ['jurisdictions that are no list', { jurisdictions: 'US-CA' }],
  ])('the operator cannot create a challenge with %s', async (_what, changes) => {
    const before = await world.digest();
    const answer = await world.operator.createChallenge(world.program.id, liveTerms(changes));
    expectError(400, 'invalid_request', answer);
    expect(await world.digest()).toEqual(before);
  });

  test('the operator API answers 404 to unknown and malformed ids', async () => {
    for (const id of [randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await world.operator.createChallenge(id, liveTerms()));
      expectError(404, 'not_found', await world.operator.getChallenge(id));
      expectError(404, 'not_found', await world.operator.updateChallenge(id, { status: 'closed' }));
      expectError(404, 'not_found', await world.operator.approveProgram(id));
      expectError(404, 'not_found', await world.operator.updateProgram(id, { status: 'closed' }));
      expectError(404, 'not_found', await world.operator.send('GET', `/programs/${id}`));
    }
  });

  test('the operator sees a challenge with every term that was set', async () => {
    const created = await world.newChallenge({ score_min: 0, score_max: 1000, required_verification_level: 1 });
    const read = expectStatus(200, await world.operator.getChallenge(created.id)).body;
    expect(read).toEqual(created);
    expect(read).toMatchObject({
      environment: 'test',
      threshold_direction: 'higher_is_better',
      target_pass_rate: 0.2,
      integrity_tier: 2,
      score_min: 0,
      score_max: 1000,
      daily_attempt_cap: 1000,
      required_verification_level: 1,
      jurisdictions: [],
    });
  });

  test('the audit is good after the operator’s changes of programs', () => world.expectAuditOk());
});
