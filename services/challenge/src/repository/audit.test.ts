/**
 * The audit in slices finds the same violations as the audit of all rows, however the rows are
 * damaged.
 */
import type { CheckResult } from '@laurel/postgres';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { Environment, type Tenant } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();
const LIVE: Tenant = { ...PROGRAM, environment: Environment.LIVE };

const TABLES = [
  'challenges',
  'attempts',
  'outcomes',
  'awards',
  'refunds_due',
  'bar_samples',
  'calibrations',
  'calibration_players',
  'seeded_distributions',
  'drift_monitors',
  'unmonitored_outcomes',
  'ramp_slots',
  'status_changes',
];
/** The constraints that would refuse the damage, by table. */
const RULES = {
  attempts: [
    'attempts_closed_with_a_reason',
    'attempts_free_without_bar',
    'attempts_only_fees_are_awaited',
    'attempts_paid_by_an_account',
  ],
  awards: ['awards_one_per_attempt', 'awards_one_per_challenge_and_account'],
  calibrations: ['calibrations_players_have_samples', 'calibrations_anchor_is_a_sample'],
  calibration_players: ['calibration_players_keep_their_share'],
  challenges: ['challenges_threshold_follows_status', 'challenges_ramp_is_begun', 'challenges_ramp_needs_a_bar'],
  drift_monitors: ['drift_monitors_passes_are_attempts'],
};

/** SQL for the key of the row at this place in the order of keys. */
const keyAt = (table: string, key: string, at: number) =>
  `(select ${key} from ${table} order by ${key}::text offset ${at} % greatest((select count(*) from ${table}), 1) limit 1)`;
/** SQL that copies a column from one row to another. */
const copy = (table: string, key: string, column: string) => (from: number, to: number) =>
  `update ${table} set ${column} = (select ${column} from ${table} where ${key} = ${keyAt(table, key, from)} limit 1)
   where ${key} = ${keyAt(table, key, to)}`;
const change = (table: string, key: string, what: string) => (_: number, to: number) =>
  `update ${table} set ${what} where ${key} = ${keyAt(table, key, to)}`;
const remove = (table: string, key: string) => (_: number, to: number) =>
  `delete from ${table} where ${key} = ${keyAt(table, key, to)}`;

const DAMAGES = {
  'another status': copy('attempts', 'id', 'status'),
  'an attempt of another account': copy('attempts', 'id', 'account_id'),
  'an attempt of another challenge': copy('attempts', 'id', 'challenge_id'),
  'an attempt of a challenge that is gone': change('attempts', 'id', 'challenge_id = gen_random_uuid()'),
  'another fee': change('attempts', 'id', 'fee_cents = fee_cents + 1'),
  'another prize': change('attempts', 'id', 'prize_cents = prize_cents + 100000'),
  'another frozen bar': copy('attempts', 'id', 'threshold'),
  'an earlier attempt': change('attempts', 'id', `created_at = created_at - interval '1 day'`),
  'an attempt that is gone': remove('attempts', 'id'),
  'an attempt that ends': change('attempts', 'id', `status = 'expiring'`),
  'an attempt that opens again': change('attempts', 'id', `status = 'open'`),
  'another decision': change('outcomes', 'attempt_id', 'met_threshold = not met_threshold'),
  'another score': copy('outcomes', 'attempt_id', 'score'),
  'an outcome before its monitor': change('outcomes', 'attempt_id', `recorded_at = recorded_at - interval '1 day'`),
  'another signing key': change('outcomes', 'attempt_id', 'signing_key_id = signing_key_id + 100'),
  'an outcome that is gone': remove('outcomes', 'attempt_id'),
  'another amount': change('awards', 'id', 'amount_cents = amount_cents + 1'),
  'an award of another account': copy('awards', 'id', 'account_id'),
  'an award of another challenge': copy('awards', 'id', 'challenge_id'),
  'an award of another attempt': copy('awards', 'id', 'attempt_id'),
  'an award that is gone': remove('awards', 'id'),
  'a refund that is not due': (_: number, to: number) =>
    `insert into refunds_due (attempt_id, since) values (${keyAt('attempts', 'id', to)}, now()) on conflict do nothing`,
  'another score of a sample': copy('bar_samples', 'sample_id', 'score'),
  'a sample of another player': copy('bar_samples', 'sample_id', 'player'),
  'a sample of a ref': change('bar_samples', 'sample_id', `player = 'ref:x'`),
  'a sample of another challenge': copy('bar_samples', 'sample_id', 'challenge_id'),
  'a sample that is gone': remove('bar_samples', 'sample_id'),
  'another count of samples': change('calibrations', 'challenge_id', 'collected = collected + 1'),
  'another count of players': change('calibrations', 'challenge_id', 'players = players + 1'),
  'a calibration that is gone': remove('calibrations', 'challenge_id'),
  'another count of a player': change('calibration_players', 'player', 'samples = samples + 1'),
  'a player that is gone': remove('calibration_players', 'player'),
  'another bar': copy('challenges', 'id', 'threshold'),
  'another status of a challenge': copy('challenges', 'id', 'status'),
  'a lower cap': change('challenges', 'id', 'daily_attempt_cap = 1'),
  'a ramp': change('challenges', 'id', 'ramped_from = created_at, ramp_completed_at = null'),
  'no ramp': change('challenges', 'id', 'ramped_from = null, ramp_completed_at = null'),
  'another direction': change('challenges', 'id', `threshold_direction = 'lower_is_better'`),
  'awards that are held': change('challenges', 'id', 'suspended_by_drift = not suspended_by_drift'),
  'a challenge that is gone': remove('challenges', 'id'),
  'an outcome counted twice': change('drift_monitors', 'challenge_id', 'attempts = attempts + 1'),
  'an outcome never counted': change('drift_monitors', 'challenge_id', 'attempts = attempts - 1'),
  'a pass never counted': change('drift_monitors', 'challenge_id', 'passes = passes - 1'),
  'a monitor that started later': change(
    'drift_monitors',
    'challenge_id',
    `started_at = started_at + interval '1 day'`,
  ),
  'a monitor that is gone': remove('drift_monitors', 'challenge_id'),
  'outcomes that wait twice': (_: number, to: number) =>
    `insert into unmonitored_outcomes (challenge_ids, passed) values (array[${keyAt('challenges', 'id', to)}], '{true}')`,
  'outcomes that wait no more': () => 'delete from unmonitored_outcomes',
  'a suspension': (_: number, to: number) =>
    `insert into status_changes (challenge_id, changed_at, from_status, to_status, cause)
     values (${keyAt('challenges', 'id', to)}, now(), 'live', 'suspended', 'operator')`,
  'other percentiles': change('seeded_distributions', 'challenge_id', 'p50 = p50 + 1, p75 = p75 + 1'),
} as const;

const damages = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(DAMAGES) as (keyof typeof DAMAGES)[])),
    from: fc.nat({ max: 100 }),
    to: fc.nat({ max: 100 }),
  }),
  { minLength: 1, maxLength: 3 },
);

/** Runs statements that the tables' triggers and foreign keys would refuse. */
async function tamper(...statements: readonly string[]): Promise<void> {
  await h.database.transaction(async (tx) => {
    await tx.query({ text: `set local session_replication_role = replica` });
    for (const text of statements) await tx.query({ text });
  });
}

/** Creates challenges of each kind, with attempts in every state, in both environments. */
beforeAll(async () => {
  for (const tenant of [PROGRAM, LIVE]) {
    const { challenge } = h;
    const open = async (status: ChallengeStatus, threshold?: number) => {
      const { terms } = await h.open();
      if (terms === undefined) throw new Error('a challenge without terms');
      const changed = { ...terms, targetPassRate: 0.5, minCalibrationN: 4, minCalibrationPlayers: 2 };
      const { challenge: opened } = expectAccepted(
        await challenge.createChallenge({ tenant, terms: changed, status, threshold }),
      );
      if (opened === undefined) throw new Error('no challenge in the answer');
      return opened.id;
    };
    const players = [await h.player(undefined, 100_000n, tenant), await h.player(undefined, 100_000n, tenant)];
    const play = async (id: string, ref: string) => created(await h.create(id, ref, undefined, tenant)).id;
    const report = async (attemptId: string, score: number) => {
      const sent = { score, tiebreak: undefined, evidenceJson: '', requestId: 'r', keyUse: undefined };
      const reports = [{ operationId: newId(), attemptId, tenant, ...sent }];
      return recorded(expectAccepted(await challenge.reportOutcomes({ reports })).results[0]?.result);
    };
    for (const id of [await open(ChallengeStatus.LIVE, 100), await open(ChallengeStatus.LIVE, 100)]) {
      for (const { ref } of players) {
        await report(await play(id, ref), 1);
        await report(await play(id, ref), 100);
      }
      const [{ ref } = { ref: '' }] = players;
      expectAccepted(
        await challenge.voidAttempt({ attemptId: await play(await open(ChallengeStatus.LIVE, 100), ref), reason: 'x' }),
      );
      await play(await open(ChallengeStatus.LIVE, 100), ref);
    }
    const calibrated = await open(ChallengeStatus.CALIBRATING);
    const calibrating = await open(ChallengeStatus.CALIBRATING);
    for (const [index, score] of [10, 20, 30, 40].entries()) {
      const ref = players[index % 2]?.ref ?? '';
      await report(await play(calibrated, ref), score);
      if (index < 2) await report(await play(calibrating, ref), score);
    }
    const [{ ref } = { ref: '' }] = players;
    await play(calibrated, ref);
    expectAccepted(
      await challenge.seedChallenge({
        operationId: newId(),
        tenant,
        challengeId: await open(ChallengeStatus.CALIBRATING),
        distribution: { p5: 10, p25: 20, p50: 30, p75: 40, p95: 50 },
        sampleSize: 500n,
        keyUse: undefined,
      }),
    );
  }
  h.clock.advance(2_000);
  await h.server.sweepOnce();
  for (const [table, names] of Object.entries(RULES)) {
    for (const name of names) await h.database.query({ text: `alter table ${table} drop constraint ${name}` });
  }
  for (const table of TABLES) await tamper(`create table saved_${table} as table ${table}`);
});
afterAll(restore);
beforeEach(restore);

async function restore(): Promise<void> {
  await tamper(
    ...TABLES.map((table) => `delete from ${table}`),
    ...TABLES.map((table) => `insert into ${table} overriding system value select * from saved_${table}`),
    'delete from audit_passes',
    'delete from audit_findings',
  );
}

const counts = (results: readonly CheckResult[]) =>
  Object.fromEntries(results.map(({ id, violations, testViolations }) => [id, [violations, testViolations]] as const));

describe('the audit in slices', () => {
  it('a damaged row that is never written again is found within a day, one slice at a time', async () => {
    const audit = h.auditInSlices({ runBudgetMs: 0, maxPageSize: 3 });
    const clean = counts(await audit.run());
    expect(Object.values(clean).flat().filter(Boolean)).toEqual([]);
    await tamper(
      `update awards set amount_cents = amount_cents + 1 where id = (select max(id::text)::uuid from awards)`,
    );
    const wanted = ['award_follows_from_its_attempt', 'award_has_its_payout'];
    // A day has 144 runs. After 72 runs the pass is half a day old and ends in one run.
    const foundAfter = new Map<string, number>();
    for (let runs = 1; runs <= 73 && foundAfter.size < wanted.length; runs += 1) {
      await tamper(
        `update audit_passes set started_at = started_at - interval '10 minutes'`,
        // Makes the runs find no new rows, so that only slices find the damage.
        `update audit_passes set tails = (
           select jsonb_object_agg(name, '{"from": 4102444800000, "to": 4102444800000}'::jsonb) from jsonb_object_keys(tails) as name)`,
      );
      const found = counts(await audit.run());
      for (const check of wanted) if (found[check]?.[0] === 1n && !foundAfter.has(check)) foundAfter.set(check, runs);
    }
    expect([...foundAfter.keys()].toSorted()).toEqual(wanted);
    expect(Math.min(...foundAfter.values())).toBeGreaterThan(1);
  });

  it('a pass that is half a day old ends in one run, with every violation', async () => {
    const audit = h.auditInSlices({ runBudgetMs: 0, maxPageSize: 3 });
    await audit.run();
    await audit.run();
    await tamper(
      `update drift_monitors set attempts = attempts + 1 where challenge_id = (select max(challenge_id::text)::uuid from drift_monitors)`,
      `delete from audit_passes`,
    );
    await audit.run();
    await tamper(
      `update outcomes set signing_key_id = -1 where attempt_id = (select max(attempt_id::text)::uuid from outcomes)`,
      `update audit_passes set started_at = started_at - interval '12 hours'`,
    );
    const found = counts(await audit.run());
    expect(found.receipt_has_its_key?.[0]).toBe(1n);
    expect(found.monitor_counts_no_outcome_twice?.[0]).toBe(1n);
  });

  it('attempts and outcomes that are written during a pass are not reported as violations', async () => {
    const audit = h.auditInSlices({ runBudgetMs: 0, maxPageSize: 5 });
    const challenge = await h.open({ dailyAttemptCap: 10_000, targetPassRate: 0.002 });
    const { ref } = await h.player();
    await audit.run();
    for (let runs = 0; runs < 40; runs += 1) {
      const { id } = created(await h.create(challenge.id, ref));
      if (runs % 3 > 0) await h.report(id, 1);
      else expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: id }));
      if (runs % 10 === 0) await h.server.sweepOnce();
      expect((await audit.run()).filter(({ violations }) => violations > 0n)).toEqual([]);
    }
    expect(await h.violations()).toEqual([]);
    // Restores the rows as they were before the test, because the wallet and the events must match
    // them at the end of the file.
    await h.server.sweepOnce();
    for (const table of TABLES)
      await tamper(`drop table saved_${table}`, `create table saved_${table} as table ${table}`);
  });

  it('the audit in slices finds the same damage as the audit of all rows, for slices of any size', async () => {
    await fc.assert(
      fc.asyncProperty(damages, fc.integer({ min: 1, max: 20 }), async (drawn, maxPageSize) => {
        await restore();
        await tamper(...drawn.map(({ kind, from, to }) => DAMAGES[kind](from, to)));
        const { checks } = expectAccepted(await h.challenge.audit({}));
        const sliced = await h.auditInSlices({ maxPageSize }).run();
        expect(counts(sliced)).toEqual(counts(checks));
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
