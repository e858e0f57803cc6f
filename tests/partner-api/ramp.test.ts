import type { ChallengeTerms } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { HIDDEN, playIn, SEED, SEEDED_BAR } from './play.ts';

describe('the ramp of a challenge', () => {
  let world: SharedWorld;
  let on: ReturnType<typeof playIn>;
  beforeAll(async () => {
    world = await joinWorld();
    on = playIn(world);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const seeded = async (terms: ChallengeTerms = {}) => {
    const { id } = await on.calibrating({ prize: '12.00', integrity_tier: 1, target_pass_rate: 0.2, ...terms });
    expectStatus(201, await world.partner.seedChallenge(id, SEED));
    return id;
  };

  test('the prize is capped until 100 settled paid attempts confirm the bar', async () => {
    const id = await seeded();
    const winners = await on.newPlayers(21);
    const loser = await world.newPlayer();
    const early = await on.start(id, winners[20]?.ref ?? '');
    const settle = async (count: number, from: number) => {
      for (let index = from; index < from + count; index += 1) {
        const isWin = index % 5 === 0;
        const { outcome } = await on.play(id, (isWin ? winners[index / 5]?.ref : loser.ref) ?? '', isWin ? 80 : 79);
        expect(outcome.award?.amount).toBe(isWin ? '5.00' : undefined);
      }
    };
    const shows = (attemptsSeen: number | undefined) =>
      eventually(async () => {
        const challenge = await on.listed(id);
        return challenge.ramp?.attemptsSeen === attemptsSeen ? challenge : undefined;
      }, `${attemptsSeen} attempts are seen`);
    await settle(40, 0);
    const ramp = { active: true, fullPrize: '12.00', attemptsSeen: 40, attemptsRequired: 100 };
    expect(await shows(40)).toMatchObject({ prize: '5.00', ramp });
    await settle(59, 40);
    expect(await shows(99)).toMatchObject({ prize: '5.00', ramp: { ...ramp, attemptsSeen: 99 } });
    await settle(1, 99);
    const lifted = await shows(undefined);
    expect(lifted).toMatchObject({ status: 'live', prize: '12.00', threshold: SEEDED_BAR });
    for (const field of ['ramp', ...HIDDEN]) expect(lifted).not.toHaveProperty(field);

    // An attempt that was created while the prize was capped keeps the capped prize.
    expect(await on.report(early.id, 80)).toMatchObject({ award: { amount: '5.00' } });
    const { outcome } = await on.play(id, (await world.newPlayer()).ref, 80);
    expect(outcome.award).toMatchObject({ amount: '12.00' });
    const { changes } = expectStatus(200, await world.operator.getDrift(id)).body;
    expect(changes).toMatchObject([
      { cause: 'seeded', from: 'calibrating', to: 'live' },
      { cause: 'ramp', from: 'live', to: 'live', evidence: { attempts: 100, passes: 20, pass_rate: 0.2 } },
    ]);
  });

  test.each([
    [1, '25.00', '5.00'],
    [2, '250.00', '50.00'],
    [3, '2500.00', '500.00'],
  ])('a challenge in tier %d with a prize of %s is capped at %s', async (tier, prize, cap) => {
    const capped = await on.listed(await seeded({ integrity_tier: tier, prize }));
    expect(capped).toMatchObject({ prize: cap, ramp: { active: true, fullPrize: prize } });
    const whole = await on.listed(await seeded({ integrity_tier: tier, prize: cap }));
    expect(whole.prize).toBe(cap);
    expect(whole).not.toHaveProperty('ramp');
  });

  test('a challenge that the operator opened with a bar has no ramp', async () => {
    const opened = await world.newChallenge({ prize: '12.00', integrity_tier: 1 });
    const { id } = await on.calibrating({
      prize: '12.00',
      integrity_tier: 1,
      min_calibration_n: 1,
      min_calibration_players: 1,
    });
    await on.play(id, 'observed', 1);
    const byOperator = await on.listed(opened.id);
    expect(byOperator).toMatchObject({ status: 'live', prize: '12.00', calibration_source: 'observed' });
    expect(byOperator).not.toHaveProperty('ramp');
    const ramp = { active: true, fullPrize: '12.00', attemptsSeen: 0, attemptsRequired: 100 };
    expect(await on.listed(id)).toMatchObject({ status: 'live', prize: '5.00', calibration_source: 'observed', ramp });
  });

  test('the audit finds no violation after the ramps', () => world.expectAuditOk());
});
