/** The audit in slices finds what the audit of everything finds, however the rows are damaged. */
import type { CheckResult } from '@laurel/postgres';
import { expectAccepted } from '@laurel/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { created, HOUR_MS, LIVE_PROGRAM, PROGRAM, recorded, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

const TABLES = [
  'tournaments',
  'rounds',
  'attempts',
  'outcomes',
  'entries',
  'board_chunks',
  'round_tallies',
  'round_cancellations',
  'round_payouts',
  'seals',
  'seal_nodes',
  'refunds_due',
];
/** The constraints and indexes that would refuse damage. */
const RULES = [
  'alter table attempts drop constraint attempts_closed_with_a_reason',
  'alter table entries drop constraint entries_one_per_round_and_account',
  'alter table entries drop constraint entries_rank_and_payout_are_decided_together',
  'alter table entries drop constraint entries_with_a_run_were_bought',
  'alter table round_payouts drop constraint round_payouts_one_per_entry',
  'alter table round_payouts drop constraint round_payouts_one_per_rank',
  'alter table round_tallies drop constraint round_tallies_are_nested',
  'alter table rounds drop constraint rounds_settled_at_follows_status',
  'drop index rounds_one_open_per_tournament',
];

/** The key of a row of the table, by its place in the order of keys. */
const keyAt = (table: string, key: string, at: number) =>
  `(select ${key} from ${table} order by ${key}::text offset ${at} % greatest((select count(*) from ${table}), 1) limit 1)`;
/** Copies a column's value from one row to another. */
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
  'an attempt of another round': copy('attempts', 'id', 'round_id'),
  'an attempt of another entry': copy('attempts', 'id', 'entry_id'),
  'an attempt of no entry': change('attempts', 'id', 'entry_id = gen_random_uuid()'),
  'another fee': change('attempts', 'id', 'fee_cents = fee_cents + 1'),
  'an attempt that is gone': remove('attempts', 'id'),
  'an attempt that ends': change('attempts', 'id', `status = 'expiring'`),
  'an attempt that opens again': change('attempts', 'id', `status = 'open'`),
  'another score': copy('outcomes', 'attempt_id', 'score'),
  'another tiebreak': change('outcomes', 'attempt_id', 'tiebreak = case when tiebreak is null then 1 end'),
  'an earlier outcome': change('outcomes', 'attempt_id', `recorded_at = recorded_at - interval '1 day'`),
  'another signing key': change('outcomes', 'attempt_id', 'signing_key_id = signing_key_id + 100'),
  'an outcome that is gone': remove('outcomes', 'attempt_id'),
  'an entry without a purchase': change('entries', 'id', 'bought_at = null'),
  'an entry with a purchase': change('entries', 'id', 'bought_at = now()'),
  'another best score': change('entries', 'id', 'best_score = best_score + 1'),
  'another best tiebreak': change(
    'entries',
    'id',
    'best_tiebreak = case when best_tiebreak is null and sort_key is not null then 1 end',
  ),
  'another best ref': change('entries', 'id', `best_player_ref = best_player_ref || 'x'`),
  'the best run of another entry': copy('entries', 'id', 'best_attempt_id'),
  'the last place': change('entries', 'id', `sort_key = '\\xff' || substring(sort_key from 2)`),
  'the first place': change('entries', 'id', `sort_key = '\\x00' || substring(sort_key from 2)`),
  'another rank': change('entries', 'id', 'final_rank = final_rank + 1'),
  'no rank': change('entries', 'id', 'final_rank = null'),
  'a rank': change('entries', 'id', 'final_rank = 1, payout_cents = 0'),
  'another payout of an entry': change('entries', 'id', 'payout_cents = payout_cents + 1'),
  'an entry of another account': copy('entries', 'id', 'account_id'),
  'an entry of another round': copy('entries', 'id', 'round_id'),
  'an entry that is gone': remove('entries', 'id'),
  'another count of a chunk': change('board_chunks', 'round_id', 'entries = entries + 1'),
  'a chunk that begins later': change('board_chunks', 'round_id', `lower_sort_key = decode(repeat('80', 39), 'hex')`),
  'a chunk of no round': change('board_chunks', 'round_id', 'round_id = gen_random_uuid()'),
  'a board that is gone': remove('board_chunks', 'round_id'),
  'another count of entrants': change('round_tallies', 'round_id', 'entrants = entrants + 1'),
  'another count of players': change('round_tallies', 'round_id', 'scored_players = scored_players + 1'),
  'another count of attempts': change('round_tallies', 'round_id', 'scored_attempts = scored_attempts + 1'),
  'a tally that is gone': remove('round_tallies', 'round_id'),
  'another status of a round': copy('rounds', 'id', 'status'),
  'a lower cap': change('rounds', 'id', 'attempt_cap = 1'),
  'another purse': change('rounds', 'id', 'purse_cents = array[7, 6, 5]'),
  'another direction': change('rounds', 'id', `direction = 'lower_is_better'`),
  'another number': change('rounds', 'id', 'number = number + 7'),
  'a round of another tournament': copy('rounds', 'id', 'tournament_id'),
  'a round that is gone': remove('rounds', 'id'),
  'other terms': change('tournaments', 'id', 'attempt_cap = attempt_cap + 1'),
  'a tournament that is gone': remove('tournaments', 'id'),
  'another amount': change('round_payouts', 'award_id', 'amount_cents = amount_cents + 1'),
  'a payout of another rank': change('round_payouts', 'award_id', 'final_rank = final_rank + 10'),
  'a payout to another account': copy('round_payouts', 'award_id', 'account_id'),
  'a payout of another entry': copy('round_payouts', 'award_id', 'entry_id'),
  'a payout of no entry': change('round_payouts', 'award_id', 'entry_id = gen_random_uuid()'),
  'a payout that is gone': remove('round_payouts', 'award_id'),
  'a payout under way': change('round_payouts', 'award_id', `status = 'paying', paid_at = null`),
  'a refund that is not due': (_: number, to: number) =>
    `insert into refunds_due (attempt_id, since) values (${keyAt('attempts', 'id', to)}, now()) on conflict do nothing`,
  'another count of leaves': change('seals', 'round_id', 'leaves = leaves + 1'),
  'a seal that is gone': remove('seals', 'round_id'),
  'a node that is gone': remove('seal_nodes', 'round_id'),
  'an operator’s cancellation': (_: number, to: number) =>
    `insert into round_cancellations (round_id, cancelled_at, cancelled_by, reason)
     values (${keyAt('rounds', 'id', to)}, now(), 'ada', 'x') on conflict do nothing`,
} as const;

const damages = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(DAMAGES) as (keyof typeof DAMAGES)[])),
    from: fc.nat({ max: 100 }),
    to: fc.nat({ max: 100 }),
  }),
  { minLength: 1, maxLength: 3 },
);

/** Statements that the tables' triggers and foreign keys would refuse. */
async function tamper(...statements: readonly string[]): Promise<void> {
  await h.database.transaction(async (tx) => {
    await tx.query({ text: `set local session_replication_role = replica` });
    for (const text of statements) await tx.query({ text });
  });
}

/** Rounds that run, that have settled and that were cancelled, in both environments. */
beforeAll(async () => {
  const running = [];
  for (const tenant of [PROGRAM, LIVE_PROGRAM]) {
    const players = [];
    for (let index = 0; index < 4; index += 1) players.push(await h.player(undefined, 100_000n, tenant));
    for (const [isOver, minEntrants] of [
      [false, 1],
      [true, 1],
      [true, 9],
    ] as const) {
      const tiebreak = { metricName: 'seconds', direction: 'lower_is_better' as const };
      const lengthMs = isOver ? HOUR_MS : 100 * HOUR_MS;
      const { id } = await h.openRound({ minEntrants, attemptCap: 3, tiebreak }, { tenant, lengthMs });
      for (const [index, { ref }] of players.entries()) {
        for (const score of [index, 5 - index]) {
          const attempt = created(await h.create(id, ref, undefined, tenant));
          recorded(await h.report(attempt.id, score, { tenant, tiebreak: score % 2 }));
        }
      }
      const [first, second] = players;
      const ended = created(await h.create(id, first?.ref ?? '', undefined, tenant));
      expectAccepted(await h.tournament.voidAttempt({ attemptId: ended.id, reason: 'x' }));
      if (!isOver) running.push({ tenant, id, ref: second?.ref ?? '' });
    }
  }
  h.clock.advance(HOUR_MS + 1_000);
  for (let sweeps = 0; sweeps < 4; sweeps += 1) await h.server.sweepOnce();
  for (const { tenant, id, ref } of running) created(await h.create(id, ref, undefined, tenant));
  for (const text of RULES) await h.database.query({ text });
  for (const table of TABLES) await tamper(`create table saved_${table} as table ${table}`);
});
afterAll(restore);
beforeEach(restore);

async function restore(): Promise<void> {
  await tamper(
    ...TABLES.map((table) => `delete from ${table}`),
    ...TABLES.map((table) => `insert into ${table} select * from saved_${table}`),
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
      `update round_payouts set amount_cents = amount_cents + 1 where award_id = (select max(award_id::text)::uuid from round_payouts)`,
    );
    const wanted = ['payouts_are_the_frozen_purse', 'purse_has_its_payout'];
    // A day has 144 runs. After 72 runs the pass is half a day old, and the next run completes it.
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

  it('entries, scores and the end of a round that fall into a pass are not reported as violations', async () => {
    const audit = h.auditInSlices({ runBudgetMs: 0, maxPageSize: 5 });
    const players = [await h.player(), await h.player(), await h.player()];
    await audit.run();
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const { id } = await h.openRound({ minEntrants: rounds === 1 ? 9 : 1, attemptCap: 100 });
      for (let runs = 0; runs < 8; runs += 1) {
        const attempt = created(await h.create(id, players[runs % 3]?.ref ?? ''));
        if (runs % 4 > 0) recorded(await h.report(attempt.id, runs));
        expect((await audit.run()).filter(({ violations }) => violations > 0n)).toEqual([]);
      }
      expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: id }));
      for (let sweeps = 0; sweeps < 4; sweeps += 1) {
        await h.server.sweepOnce();
        expect((await audit.run()).filter(({ violations }) => violations > 0n)).toEqual([]);
      }
    }
    expect(await h.violations()).toEqual([]);
    // Saves these rows, because at the end of the file the wallet and the events must match them.
    for (const table of TABLES)
      await tamper(`drop table saved_${table}`, `create table saved_${table} as table ${table}`);
  });

  it('the audit in slices finds the same damage as the audit of all rows, for slices of any size', async () => {
    await fc.assert(
      fc.asyncProperty(damages, fc.integer({ min: 1, max: 20 }), async (drawn, maxPageSize) => {
        await restore();
        await tamper(...drawn.map(({ kind, from, to }) => DAMAGES[kind](from, to)));
        const { checks } = expectAccepted(await h.tournament.audit({}));
        const sliced = await h.auditInSlices({ maxPageSize }).run();
        expect(counts(sliced)).toEqual(counts(checks));
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
