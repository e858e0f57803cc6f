import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, inMinutes, startWorld, type World } from '../world.ts';

describe('/api/sandbox', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('makes, links and funds a player who can play at once', async () => {
    const challenge = await world.newChallenge({ fee: '40.00' });
    const ref = randomUUID();
    const link = expectStatus(201, await world.partner.createPlayer(ref, '100.00'));
    expect(link.body).toEqual({
      player_ref: ref,
      linked: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const entry = { challenge_id: challenge.id, player_ref: ref };
    expectStatus(201, await world.partner.createAttempt(entry));
    expectStatus(201, await world.partner.createAttempt(entry));
    expectError(402, 'insufficient_funds', await world.partner.createAttempt(entry));
    expectStatus(201, await world.partner.createPlayer(ref, '20.00'));
    expectStatus(201, await world.partner.createAttempt(entry));
  });

  test('makes a player without money when no funds are named', async () => {
    const challenge = await world.newChallenge();
    const ref = randomUUID();
    expectStatus(201, await world.partner.createPlayer(ref));
    const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
    expectError(402, 'insufficient_funds', answer);
  });

  test('serves refs with any character in the path', async () => {
    for (const ref of ['a/b', 'ü 選手', '50%', 'a?b#c', '%2F']) {
      expectStatus(201, await world.partner.createPlayer(ref, '1.00'));
      expectStatus(204, await world.partner.holdNextAward(ref));
    }
  });

  test.each([
    ['no player_ref', {}],
    ['a player_ref of 256 characters', { player_ref: 'x'.repeat(256) }],
    ['funds as a number', { player_ref: 'a', funds: 1 }],
    ['funds with one decimal', { player_ref: 'a', funds: '1.0' }],
    ['negative funds', { player_ref: 'a', funds: '-1.00' }],
  ])('refuses %s', async (_what, body) => {
    const before = await world.digest();
    expectError(400, 'invalid_request', await world.partner.send('POST', '/api/sandbox/players', { body }));
    expect(await world.digest()).toEqual(before);
  });

  test('ends no round that has not begun, and none twice', async () => {
    const tournament = await world.newTournament();
    const times = { opens_at: inMinutes(30), closes_at: inMinutes(60) };
    const early = expectStatus(201, await world.operator.openRound(tournament.id, times)).body;
    expectError(409, 'conflict', await world.partner.closeEntries(early.id));
    expectError(409, 'conflict', await world.partner.closeRound(early.id));
    const round = await world.newRound();
    expectStatus(200, await world.partner.closeRound(round.id));
    expectError(409, 'conflict', await world.partner.closeRound(round.id));
    expectError(409, 'conflict', await world.partner.closeEntries(round.id));
  });

  test('expires only what it knows', async () => {
    for (const id of [randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await world.partner.send('POST', `/api/sandbox/attempts/${id}/expire`));
    }
  });

  test('leaves the audit good', () => world.expectAuditOk());
});
