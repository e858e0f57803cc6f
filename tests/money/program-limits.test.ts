import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';

describe('limits of a program in live', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('250 parallel wins over ten live challenges pay exactly the limit of the program', async () => {
    const program = await world.newProgram();
    const terms = { environment: 'live', prize: '25.00', integrity_tier: 1 };
    const challenges = await Promise.all(Array.from({ length: 10 }, () => world.newChallenge(terms, program)));
    const attempts = await Promise.all(
      Array.from({ length: 250 }, async (_, index) => {
        const player = await world.newPlayer({ environment: 'live', funds: '5.00', partner: program.live });
        const challenge_id = challenges[index % 10]?.id ?? '';
        const attempt = await program.live.createAttempt({ challenge_id, player_ref: player.ref });
        return expectStatus(201, attempt).body.id;
      }),
    );
    const path = `/programs/${program.id}/limits`;
    const paidLimit = { environment: 'live', payout_limit: '1000.00' };
    expectStatus(200, await world.operator.send('PATCH', path, { body: paidLimit }));
    const outcomes = await Promise.all(attempts.map((id) => program.live.reportOutcome(id, { score: 100 })));
    const statuses = outcomes.map((outcome) => expectStatus(200, outcome).body.award?.payout_status);
    expect(statuses.filter((status) => status === 'paid')).toHaveLength(40);
    expect(statuses.filter((status) => status === 'held')).toHaveLength(210);
    const held = expectStatus(200, await world.operator.listPayouts('held')).body.data;
    const awards = new Set(outcomes.map((outcome) => outcome.status === 200 && outcome.body.award?.id));
    const reasons = held.filter((payout) => awards.has(payout.award_id)).map((payout) => payout.reason);
    expect(new Set(reasons)).toEqual(new Set(['program_velocity']));
    const shown = expectStatus(200, await world.operator.send('GET', path)).body;
    expect(shown).toMatchObject({
      data: [
        { environment: 'test', payout_limit: null, fee_limit: null, paid: '0.00' },
        { environment: 'live', payout_limit: '1000.00', fee_limit: '200.00', paid: '1000.00' },
      ],
    });
    await world.expectAuditOk();
  });

  test('fees of one account beyond 200.00 a day are blocked and charge nothing', async () => {
    const program = await world.newProgram();
    const terms = { environment: 'live', fee: '60.00' };
    const challenges = await Promise.all(Array.from({ length: 2 }, () => world.newChallenge(terms, program)));
    const player = await world.newPlayer({ environment: 'live', funds: '1000.00', partner: program.live });
    const attempts = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        program.live.createAttempt({ challenge_id: challenges[index % 2]?.id ?? '', player_ref: player.ref }),
      ),
    );
    const created = attempts.filter(({ status }) => status === 201);
    expect(created).toHaveLength(3);
    for (const attempt of attempts) if (attempt.status !== 201) expectError(403, 'blocked', attempt);
    expect(await world.balance(player, 'live')).toBe('820.00');
    const { data } = expectStatus(200, await program.live.listChallenges(player.ref)).body;
    expect(data).toEqual([]);
    const account = expectStatus(200, await world.operator.send('GET', `/accounts/${player.accountId}`)).body;
    expect(account).toMatchObject({ charges: [{ program_id: program.id, environment: 'live', amount: '180.00' }] });
    const raise = { environment: 'live', fee_limit: '240.00' };
    expectStatus(200, await world.operator.send('PATCH', `/programs/${program.id}/limits`, { body: raise }));
    const attempt = { challenge_id: challenges[0]?.id ?? '', player_ref: player.ref };
    expectStatus(201, await program.live.createAttempt(attempt, randomUUID()));
  });
});
