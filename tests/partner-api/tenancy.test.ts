import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type Program, type SharedWorld } from '../world.ts';

describe('tenancy of programs and environments', () => {
  let world: SharedWorld;
  let other: Program;
  beforeAll(async () => {
    world = await joinWorld();
    other = await world.newProgram();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('an attempt of another program or of the other environment is 404', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attempt = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }),
    );
    const unknown = await world.partner.getAttempt(randomUUID());
    for (const outsider of [other.test, other.live, world.program.live]) {
      const read = await outsider.getAttempt(attempt.body.id);
      expectError(404, 'not_found', read);
      expect(read.text).toBe(unknown.text);
      expectError(404, 'not_found', await outsider.reportOutcome(attempt.body.id, { score: 100 }));
    }
    expectError(404, 'not_found', await other.test.expireAttempt(attempt.body.id));
    expect(expectStatus(200, await world.partner.getAttempt(attempt.body.id)).body).toEqual(attempt.body);
  });

  test('a create in a challenge of another program or of the other environment is 404', async () => {
    const sandbox = await world.newChallenge();
    const live = await world.newChallenge({ environment: 'live' });
    const player = await world.newPlayer({ partner: other.test });
    const livePlayer = await world.newPlayer({ environment: 'live' });
    for (const [partner, challenge_id, ref] of [
      [other.test, sandbox.id, player.ref],
      [other.live, live.id, player.ref],
      [world.program.live, sandbox.id, livePlayer.ref],
      [world.program.test, live.id, livePlayer.ref],
    ] as const) {
      expectError(404, 'not_found', await partner.createAttempt({ challenge_id, player_ref: ref }));
    }
    expect(await world.balance(player)).toBe('100.00');
    expect(await world.balance(livePlayer, 'live')).toBe('100.00');
  });

  test('an API key lists only the challenges of its program and environment', async () => {
    const sandbox = await world.newChallenge();
    const live = await world.newChallenge({ environment: 'live' });
    const ids = async (partner: Program['test']) =>
      expectStatus(200, await partner.listChallenges('a', 'all')).body.data.map((challenge) => challenge.id);
    expect(await ids(world.program.test)).toContain(sandbox.id);
    expect(await ids(world.program.test)).not.toContain(live.id);
    expect(await ids(world.program.live)).toContain(live.id);
    expect(await ids(world.program.live)).not.toContain(sandbox.id);
    expect(await ids(other.test)).not.toContain(sandbox.id);
    expect(await ids(other.live)).not.toContain(live.id);
  });

  test('player refs of different programs and environments are separate', async () => {
    const ref = randomUUID();
    const here = await world.newPlayer();
    expectStatus(201, await world.partner.linkPlayer(ref, here.email));
    const there = await world.newChallenge({}, other);
    expectError(402, 'insufficient_funds', await other.test.createAttempt({ challenge_id: there.id, player_ref: ref }));
    const live = await world.newChallenge({ environment: 'live' });
    expectError(
      402,
      'insufficient_funds',
      await world.program.live.createAttempt({ challenge_id: live.id, player_ref: ref }),
    );
    expect(await world.balance(here)).toBe('100.00');
  });

  test('play money and real money are separate', async () => {
    const live = await world.newChallenge({ environment: 'live' });
    const player = await world.newPlayer({ environment: 'live', funds: '0.00' });
    expectStatus(201, await world.partner.createPlayer(player.ref, '100.00', { email: player.email }));
    const entry = { challenge_id: live.id, player_ref: player.ref };
    expectError(402, 'insufficient_funds', await world.program.live.createAttempt(entry));
    const sandbox = await world.newChallenge({ fee: '100.00' });
    expectStatus(201, await world.partner.createAttempt({ challenge_id: sandbox.id, player_ref: player.ref }));
    expect(await world.balance(player, 'live')).toBe('0.00');
  });

  test('a live key cannot link a sandbox account', async () => {
    const ref = randomUUID();
    expectStatus(201, await world.partner.createPlayer(ref, '50.00'));
    const rows = await world.stack
      .database('wallet')
      .query<{ email: string }>(
        'select a.email from accounts a join player_links l on l.account_id = a.id where l.player_ref = $1',
        [ref],
      );
    const email = rows[0]?.email ?? '';
    expect(email).not.toBe('');
    expectError(404, 'not_found', await world.program.live.linkPlayer(ref, email));
  });

  test('a person gets one prize per challenge, whatever program links the person', async () => {
    const player = await world.newPlayer({ environment: 'live' });
    const ref = randomUUID();
    expectStatus(201, await other.live.linkPlayer(ref, player.email));
    const here = await world.newChallenge({ environment: 'live' });
    const there = await world.newChallenge({ environment: 'live' }, other);
    for (const [partner, challenge_id, player_ref] of [
      [world.program.live, here.id, player.ref],
      [other.live, there.id, ref],
    ] as const) {
      const attempt = expectStatus(201, await partner.createAttempt({ challenge_id, player_ref }));
      const won = expectStatus(200, await partner.reportOutcome(attempt.body.id, { score: 100 }));
      expect(won.body.award?.payout_status).toBe('paid');
    }
    expect(await world.balance(player, 'live')).toBe('108.00');
  });

  test('the audit finds no violation after requests across tenants', () => world.expectAuditOk());
});
