/** The audit of bars finds each kind of damage. The tests damage the rows by SQL. */

import { type Challenge, ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();

type Terms = NonNullable<Challenge['terms']>;
const DISTRIBUTION = { p5: 10, p25: 20, p50: 30, p75: 40, p95: 50 };

async function seeded(terms: Partial<Terms> = {}, distribution = DISTRIBUTION): Promise<string> {
  const { id } = await h.open({ targetPassRate: 0.25, ...terms }, { status: ChallengeStatus.CALIBRATING });
  expectAccepted(
    await h.challenge.seedChallenge({
      operationId: newId(),
      tenant: PROGRAM,
      challengeId: id,
      distribution,
      sampleSize: 500n,
      keyUse: undefined,
    }),
  );
  return id;
}

/**
 * Scores of one kind: any finite doubles, drawn by their bits; multiples of one step (subnormal,
 * tiny, huge); or doubles next to each other, whose difference is the smallest possible.
 */
const anyBits = fc
  .bigInt({ min: 0n, max: 2n ** 64n - 1n })
  .map(doubleOf)
  .filter(Number.isFinite);
const steps = fc.constantFrom(5e-324, 1e-316, 2 ** -1022, 1e-160, 1, 2 ** 53, 1e160, Number.MAX_VALUE / 64);
const extremeScores = fc.oneof(
  fc.array(fc.oneof(anyBits, fc.constantFrom(0, -0, 5e-324, -5e-324, Number.MAX_VALUE, -Number.MAX_VALUE)), {
    minLength: 5,
    maxLength: 5,
  }),
  fc
    .tuple(steps, fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 5, maxLength: 5 }))
    .map(([step, factors]) => factors.map((factor) => factor * step)),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 0x7fef_ffff_ffff_ff00n }), fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }))
    .map(([bits, above]) => above.map((step) => doubleOf(bits + BigInt(step)))),
);

function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** Opens a calibrated challenge with a bar of 30, the second best of 10, 20, 30 and 40. */
async function calibrated(scores = [10, 20, 30, 40], changes: Partial<Terms> = {}): Promise<string> {
  const terms = { targetPassRate: 0.5, minCalibrationN: scores.length, minCalibrationPlayers: 2, ...changes };
  const { id } = await h.open(terms, { status: ChallengeStatus.CALIBRATING });
  for (const [index, score] of scores.entries()) {
    recorded(await h.report(created(await h.create(id, `unlinked-${(index + 1) % 2}`)).id, score));
  }
  return id;
}

const run = (statement: string, values?: readonly unknown[]) => h.database.query({ text: statement }, values);

/** Damages rows, and repairs them again. Returns the checks that failed meanwhile. */
async function failing(damage: string, repair: string, values: readonly unknown[]): Promise<readonly string[]> {
  expect(await h.violations()).toEqual([]);
  await run(damage, values);
  const found = (await h.violations()).map((violation) => violation.split(':')[0] ?? '');
  // No violation is in live: every failing check found rows of the sandbox.
  expect(await h.liveViolations()).toEqual([]);
  await run(repair, values);
  return found;
}

describe('the audit of bars', () => {
  it('the audit of bars finds a seeded bar that does not follow from its percentiles', async () => {
    const id = await seeded();
    const update = (what: string) => `update seeded_distributions set ${what} where challenge_id = $1`;
    const checks = ['seeded_bar_follows_from_its_percentiles'];
    expect(await failing(update('p75 = 40.001'), update('p75 = 40'), [id])).toEqual(checks);
    expect(await failing(update('threshold = 41'), update('threshold = 40'), [id])).toEqual(checks);
    // A percentile from which the bar does not follow may have any value.
    expect(await failing(update('p5 = 11'), update('p5 = 10'), [id])).toEqual([]);
    expect(
      await failing(
        update('challenge_id = $2'),
        `update seeded_distributions set challenge_id = $1 where challenge_id = $2`,
        [id, (await h.open()).id],
      ),
    ).toEqual(checks);
  });

  it('the audit accepts every bar that a seeding can set', async () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    const distributions = fc
      .oneof(
        fc.uniqueArray(finite, { minLength: 5, maxLength: 5, comparator: (one, two) => one === two }),
        fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { minLength: 5, maxLength: 5 }),
      )
      .map((scores) => scores.toSorted((one, two) => one - two))
      .filter((scores) => scores.every((score, index) => index === 0 || score > (scores[index - 1] ?? score)));
    const rates = fc.double({ min: 0, max: 1, minExcluded: true, maxExcluded: true, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        distributions,
        rates,
        fc.constantFrom(1, 2),
        async (scores, targetPassRate, thresholdDirection) => {
          const [p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0] = scores;
          await seeded({ targetPassRate, thresholdDirection }, { p5, p25, p50, p75, p95 });
        },
      ),
      { numRuns: 100 },
    );
    expect(await h.violations()).toEqual([]);
  });

  it('the audit accepts every bar that a seeding or a parent’s scores set', async () => {
    const distributions = extremeScores
      .map((scores) => scores.toSorted((one, two) => one - two))
      .filter((scores) => scores.every((score, index) => index === 0 || score > (scores[index - 1] ?? score)));
    const rates = fc.double({ min: 0, max: 1, minExcluded: true, maxExcluded: true, noNaN: true });
    const any = [distributions, rates, fc.constantFrom(1, 2)] as const;
    await fc.assert(
      fc.asyncProperty(...any, async (scores, targetPassRate, thresholdDirection) => {
        const [p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0] = scores;
        const id = await seeded({ targetPassRate, thresholdDirection }, { p5, p25, p50, p75, p95 });
        const rung = { parentChallengeId: id, targetPassRate: targetPassRate / 2, thresholdDirection };
        if (rung.targetPassRate > 0) await h.open(rung, { threshold: undefined });
      }),
      {
        numRuns: 200,
        examples: [
          [[0, 1e-316, 2e-316, 3e-316, 4e-316], 0.3, 1],
          [[0, 1e-316, 2e-316, 3e-316, 4e-316], 0.3, 2],
        ],
      },
    );
    expect(await h.violations()).toEqual([]);
  });

  it('the audit accepts every bar that samples set', async () => {
    const rates = fc.double({ min: 0, max: 1, minExcluded: true, maxExcluded: true, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        extremeScores,
        rates,
        fc.constantFrom(1, 2),
        async (scores, targetPassRate, thresholdDirection) => {
          await calibrated(scores, { targetPassRate, thresholdDirection });
        },
      ),
      { numRuns: 40 },
    );
    expect(await h.violations()).toEqual([]);
  });

  it('the audit of bars finds a wrong bar even among subnormal scores', async () => {
    const id = await seeded({}, { p5: 0, p25: 1e-316, p50: 2e-316, p75: 3e-316, p95: 4e-316 });
    const update = (bar: string) => `update seeded_distributions set p75 = ${bar} where challenge_id = $1`;
    expect(await failing(update('3.0001e-316'), update('3e-316'), [id])).toEqual([
      'seeded_bar_follows_from_its_percentiles',
    ]);
  });

  it('the audit of bars finds a bar that does not follow from its samples', async () => {
    const id = await calibrated();
    const sample = (what: string, where: string) =>
      `update bar_samples set ${what} where challenge_id = $1 and ${where}`;
    const progress = (what: string) => `update calibrations set ${what} where challenge_id = $1`;
    const shares = (what: string) => `update calibration_players set ${what} where challenge_id = $1`;
    expect(await failing(sample('score = 35', 'score = 20'), sample('score = 20', 'score = 35'), [id])).toEqual([
      'calibrated_bar_follows_from_its_samples',
    ]);
    // The rank of the bar follows from the number of samples.
    expect(await failing(progress('collected = 5'), progress('collected = 4'), [id])).toEqual([
      'calibrated_bar_follows_from_its_samples',
      'calibration_counts_its_samples',
    ]);
    expect(await failing(progress('players = 1'), progress('players = 2'), [id])).toEqual([
      'calibration_counts_its_samples',
    ]);
    expect(await failing(shares('samples = 1'), shares('samples = 2'), [id])).toEqual([
      'fair_share_counts_its_samples',
    ]);
  });

  it('the audit finds a derived bar that is easier than the bar of the rung below', async () => {
    const parentId = await seeded();
    const terms = { parentChallengeId: parentId, targetPassRate: 0.1 };
    const { id } = await h.open(terms, { threshold: undefined });
    await run('alter table challenges disable trigger challenges_terms_are_frozen');
    const update = (bar: number) => `update challenges set threshold = ${bar} where id = $1`;
    const { threshold = 0 } = expectAccepted(await h.challenge.getChallenge({ challengeId: id })).challenge ?? {};
    expect(await failing(update(39), update(threshold), [id])).toEqual(['derived_bar_is_no_easier']);
    await run('alter table challenges enable trigger challenges_terms_are_frozen');
  });

  it('the audit of bars finds a bar without its monitor, and a monitor without a bar', async () => {
    const [live, calibrating] = [await h.open(), await h.open({}, { status: ChallengeStatus.CALIBRATING })];
    const move = 'update drift_monitors set challenge_id = $2 where challenge_id = $1';
    const back = 'update drift_monitors set challenge_id = $1 where challenge_id = $2';
    expect(await failing(move, back, [live.id, calibrating.id])).toEqual(['bar_has_its_monitor']);
  });

  it('the audit of bars finds a bar that lacks a required ramp, and a bar that has a ramp without need', async () => {
    const [reported, ofOperator] = [await calibrated(), (await h.open()).id];
    const ramp = (from: string) => `update challenges set ramped_from = ${from} where id = $1`;
    await run('alter table challenges disable trigger user');
    expect(await failing(ramp('null'), ramp('created_at'), [reported])).toEqual(['reported_bar_is_ramped']);
    expect(await failing(ramp('created_at'), ramp('null'), [ofOperator])).toEqual(['reported_bar_is_ramped']);
    await run('alter table challenges enable trigger user');
  });

  it('the audit finds an attempt that froze a prize above the cap of an uncompleted ramp', async () => {
    const id = await seeded();
    const player = await h.player();
    const attempt = created(await h.create(id, player.ref));
    const prize = (cents: number) => `update attempts set prize_cents = ${cents} where id = $1`;
    expect(await failing(prize(501), prize(500), [attempt.id])).toEqual(['ramp_kept_the_cap']);
    h.clock.advance(1_001);
    await run('update challenges set ramp_completed_at = $2 where id = $1', [id, h.clock()]);
    created(await h.create(id, player.ref));
    expect(await failing(prize(501), prize(500), [attempt.id])).toEqual(['ramp_kept_the_cap']);
  });
});
