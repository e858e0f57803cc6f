import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, type Program, startWorld, type World } from '../world.ts';

describe('/api/operator/accounts/{id}/player-links', () => {
  let world: World;
  let other: Program;
  beforeAll(async () => {
    world = await startWorld();
    other = await world.newProgram();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

  test('the list of player links shows every link of an account and the severed programs', async () => {
    const player = await world.newPlayer({ environment: 'live' });
    expectStatus(201, await other.live.linkPlayer('theirs', player.email));
    const own = { program_id: world.program.id, environment: 'live', player_ref: player.ref, created_at: INSTANT };
    const theirs = { program_id: other.id, environment: 'live', player_ref: 'theirs', created_at: INSTANT };
    expect(expectStatus(200, await world.operator.playerLinks(player.accountId)).body).toEqual({
      data: [own, theirs],
      severed: [],
    });
    expectStatus(204, await world.operator.severPlayerLinks(player.accountId, other.id));
    expect(expectStatus(200, await world.operator.playerLinks(player.accountId)).body).toEqual({
      data: [own],
      severed: [{ program_id: other.id, severed_at: INSTANT }],
    });
    expectStatus(204, await world.operator.liftSeverance(player.accountId, other.id));
    expect(expectStatus(200, await world.operator.playerLinks(player.accountId)).body).toEqual({
      data: [own],
      severed: [],
    });
  });

  test.each(['live', 'test'] as const)(
    'a severed player in %s can neither pay nor be linked until an operator lifts the severance',
    async (environment) => {
      const partner = world.program[environment];
      const challenge = await world.newChallenge({ environment });
      const player = await world.newPlayer({ environment });
      const entry = { challenge_id: challenge.id, player_ref: player.ref };
      const [winner, expiring] = [
        expectStatus(201, await partner.createAttempt(entry)).body,
        expectStatus(201, await partner.createAttempt(entry)).body,
      ];
      expectStatus(204, await world.operator.severPlayerLinks(player.accountId, world.program.id));
      expectStatus(204, await world.operator.severPlayerLinks(player.accountId, world.program.id));

      expectError(402, 'insufficient_funds', await partner.createAttempt(entry));
      const unknown = await partner.linkPlayer(player.ref, `${randomUUID()}@example.com`);
      for (const ref of [player.ref, randomUUID()]) {
        const answer = await partner.linkPlayer(ref, player.email);
        expectError(404, 'not_found', answer);
        expect(answer.text).toBe(unknown.text);
      }
      expect(await world.balance(player, environment)).toBe('98.00');

      // The attempts stay with the account that paid.
      const won = expectStatus(200, await partner.reportOutcome(winner.id, { score: 100 })).body;
      expect(won.award).toMatchObject({ amount: '5.00', payout_status: 'paid' });
      expectStatus(200, await world.operator.voidAttempt(expiring.id, 'severed'));
      expect(await world.balance(player, environment)).toBe('104.00');

      expectStatus(204, await world.operator.liftSeverance(player.accountId, world.program.id));
      expectError(402, 'insufficient_funds', await partner.createAttempt(entry));
      expectStatus(201, await partner.linkPlayer(player.ref, player.email));
      const again = await world.newChallenge({ environment });
      expectStatus(201, await partner.createAttempt({ challenge_id: again.id, player_ref: player.ref }));
      expect(await world.balance(player, environment)).toBe('103.00');
    },
  );

  test('an account that is severed during parallel links has no link left', async () => {
    for (let run = 0; run < 5; run += 1) {
      const player = await world.newPlayer({ environment: 'live' });
      const link = () => world.program.live.linkPlayer(randomUUID(), player.email);
      const [severed, ...answers] = await Promise.all([
        world.operator.severPlayerLinks(player.accountId, world.program.id),
        ...Array.from({ length: 20 }, link),
      ]);
      expectStatus(204, severed);
      for (const { status } of answers) expect([201, 404]).toContain(status);
      expect(expectStatus(200, await world.operator.playerLinks(player.accountId)).body.data).toEqual([]);
      expectError(404, 'not_found', await link());
    }
  });

  test('severing an unknown account or an account without links is 404', async () => {
    const player = await world.newPlayer();
    const { severPlayerLinks, liftSeverance, playerLinks } = world.operator;
    for (const [account, program] of [
      [player.accountId, other.id],
      [player.accountId, randomUUID()],
      [player.accountId, 'nonsense'],
      [randomUUID(), world.program.id],
      ['nonsense', world.program.id],
    ] as const) {
      expectError(404, 'not_found', await severPlayerLinks(account, program));
      expectError(404, 'not_found', await liftSeverance(account, program));
    }
    for (const account of [randomUUID(), 'nonsense']) expectError(404, 'not_found', await playerLinks(account));
  });

  test('creating an account for an unknown program is 404', async () => {
    const before = await world.digest();
    const account = {
      email: `${randomUUID()}@example.com`,
      date_of_birth: '1990-01-01',
      jurisdiction: 'US-CA',
      verification_level: 1,
    };
    expectError(404, 'not_found', await world.operator.createAccount({ ...account, program_id: randomUUID() }));
    expectError(400, 'invalid_request', await world.operator.createAccount({ ...account, program_id: 'x' }));
    expect(await world.digest()).toEqual(before);
  });

  test('the audit finds no violation after player links were severed', () => world.expectAuditOk());
});
