import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('programs, accounts and challenges of /api/operator', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the operator creates a draft program with a test key', async () => {
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

  test('e-mails of accounts are unique in any case', async () => {
    const person = { date_of_birth: '1990-02-28', jurisdiction: 'US-CA', verification_level: 2 };
    const email = `${randomUUID()}@Example.com`;
    const opened = expectStatus(201, await world.operator.createAccount({ ...person, email })).body;
    expect(opened).toEqual({
      ...person,
      id: expect.stringMatching(UUID),
      email: email.toLowerCase(),
      self_excluded_until: null,
      enforcement_flag: false,
      under_investigation: false,
      blocked: false,
      fee_limit: null,
      sandbox_only: false,
      program_id: null,
      created_at: expect.stringMatching(TIMESTAMP),
    });
    const again = { ...person, email: email.toUpperCase() };
    expectError(409, 'conflict', await world.operator.createAccount(again));
    const change = async (changes: object) =>
      expectStatus(200, await world.operator.updateAccount(opened.id, changes)).body;
    const until = { self_excluded_until: '2999-01-01T00:00:00.000Z' };
    const excluded = { ...opened, ...until, under_investigation: true };
    expect(await change({ self_excluded_until: '2999-01-01T01:00:00+01:00', under_investigation: true })).toEqual(
      excluded,
    );
    const flagged = { enforcement_flag: true, verification_level: 3 };
    expect(await change(flagged)).toEqual({ ...excluded, ...flagged });
    expect(await change({ self_excluded_until: null })).toEqual({
      ...excluded,
      ...flagged,
      self_excluded_until: null,
    });
    expectError(404, 'not_found', await world.operator.updateAccount(randomUUID(), { blocked: true }));
  });

  test('a self-exclusion until the latest representable instant blocks the player', async () => {
    const player = await world.newPlayer();
    const challenge = await world.newChallenge();
    const change = (changes: object) => world.operator.updateAccount(player.accountId, changes);
    const until = '9999-01-01T00:00:00.000Z';
    expect(expectStatus(200, await change({ self_excluded_until: until })).body.self_excluded_until).toBe(until);
    const play = { challenge_id: challenge.id, player_ref: player.ref };
    expectError(403, 'blocked', await world.partner.createAttempt(play));
    expect(expectStatus(200, await change({ blocked: true })).body).toMatchObject({ blocked: true });
  });

  test('the operator sees a challenge with every term that was set', async () => {
    const created = await world.newChallenge({ score_min: 0, score_max: 1000, required_verification_level: 1 });
    const read = expectStatus(200, await world.operator.getChallenge(created.id)).body;
    expect(read).toEqual({ ...created, status_change: null });
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

  test('the audit finds no violation after the operator’s changes of programs', () => world.expectAuditOk());
});
