/** The audit finds each kind of damage. The tests disable the constraints that would prevent it. */
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt, Direction, Round } from '../domain/tournament.ts';
import { pageOfAttempts, pageOfPayouts, rereadAttempts, rereadPayouts, runOwnChecks } from './audit.ts';
import { type Harness, playersOf, startHarness } from './repository.fixture.ts';
import { changeRoundStatus } from './rounds.ts';

let h: Harness;
let running: Round;
let settling: Round;
let cancelling: Round;
/** In the running round: two entries with a run each, and one open attempt. */
let scored: Attempt;
let open: Attempt;

beforeAll(async () => {
  h = await startHarness();
  running = await h.openRound({ attemptCap: 2, tiebreak: { metricName: 'seconds', direction: 'lower_is_better' } });
  settling = await h.openRound();
  cancelling = await h.openRound({ minEntrants: 9 });
  for (const round of [running, settling, cancelling]) {
    const players = playersOf(4);
    const attempts = await h.enter(round, [...players, ...players]);
    const reports = attempts.slice(0, 6).map(({ id }, index) => ({ attemptId: id, score: index % 4, tiebreak: 1 }));
    await h.report(reports, undefined, { chunkEntries: 2 });
    if (round !== running) continue;
    const [first, last] = [attempts[3], attempts[7]];
    if (first === undefined || last === undefined) throw new Error('no attempt');
    [scored, open] = [first, last];
  }
  await h.close(settling.id);
  await h.close(cancelling.id);
  // Disables what would prevent the damage.
  await h.database.query({ text: 'alter table rounds disable trigger all' });
  await h.database.query({ text: 'alter table entries disable trigger all' });
});
afterAll(() => h[Symbol.asyncDispose]());

/** The checks that fail while the damage lasts. */
async function failing(damage: string, repair: string, values: readonly unknown[]): Promise<readonly string[]> {
  expect(await h.violations()).toEqual([]);
  await h.database.query({ text: damage }, values);
  const found = (await h.violations()).map((violation) => violation.split(':')[0] ?? '');
  // The damage is all in the sandbox.
  const results = await runOwnChecks(h.database);
  expect(results.filter(({ violations, testViolations }) => violations > testViolations)).toEqual([]);
  await h.database.query({ text: repair }, values);
  return found;
}

describe('the audit', () => {
  it('the audit finds an attempt without its outcome or its entry, or at another fee', async () => {
    const set = (assignment: string) => `update attempts set ${assignment} where id = $1`;
    expect(await failing(set(`status = 'settled'`), set(`status = 'open'`), [open.id])).toEqual([
      'run_exactly_when_settled',
    ]);
    expect(await failing(set('fee_cents = 1'), set('fee_cents = 500'), [open.id])).toEqual(['attempt_has_its_entry']);
    expect(
      await failing(
        set('account_id = round_id, player_ref = $2::uuid::text'),
        set(`account_id = $2, player_ref = 'player-3'`),
        [open.id, open.accountId],
      ),
    ).toContain('attempt_has_its_entry');
  });

  it('the audit finds an entry without a purchase, and a player above the cap', async () => {
    const book = (at: string) => `update entries set bought_at = ${at} where id = $1`;
    expect(await failing(book('null'), book('now()'), [await unscoredEntry()])).toEqual([
      'entrant_has_a_fee_that_was_not_returned',
      'round_has_its_tally_and_board',
    ]);
    const insert = `
      insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at)
      select $2, round_id, entry_id, account_id, player_ref, 'pending', fee_cents, metadata, created_at from attempts where id = $1`;
    const remove = 'delete from attempts where id = $2 and $1::uuid is not null';
    expect(await failing(insert, remove, [open.id, newId()])).toEqual(['cap_was_kept']);
  });

  it('the audit finds a board out of the order of its best runs', async () => {
    const values = [scored.entryId];
    const set = (assignment: string) => `update entries set ${assignment} where id = $1`;
    expect(await failing(set('best_tiebreak = 2'), set('best_tiebreak = 1'), values)).toEqual(['best_run_is_the_best']);
    expect(await failing(set(`best_player_ref = 'x'`), set(`best_player_ref = 'player-3'`), values)).toEqual([
      'best_run_is_the_best',
    ]);
    const worst = `sort_key = '\\xff' || substring(sort_key from 2)`;
    const [before] = await h.database.query<{ sort_key: Buffer }>(
      { text: 'select sort_key from entries where id = $1' },
      values,
    );
    const worstNow = await failing(
      `update entries set ${worst} where id = $1 and $2::bytea is not null`,
      'update entries set sort_key = $2 where id = $1',
      [scored.entryId, before?.sort_key],
    );
    expect(worstNow).toContain('chunks_count_the_board');
  });

  it('the audit finds chunks and tallies with wrong counts', async () => {
    const chunk = (by: string) =>
      `update board_chunks set entries = entries ${by} where round_id = $1 and lower_sort_key = ''`;
    expect(await failing(chunk('+ 1'), chunk('- 1'), [running.id])).toEqual(['chunks_count_the_board']);
    const tally = (column: string, by: string) =>
      `update round_tallies set ${column} = ${column} ${by} where round_id = $1`;
    for (const column of ['entrants', 'scored_attempts']) {
      expect(await failing(tally(column, '+ 1'), tally(column, '- 1'), [running.id])).toEqual([
        'round_has_its_tally_and_board',
      ]);
    }
  });

  it('the audit finds a round whose terms are not its tournament’s', async () => {
    const cap = (value: number) => `update rounds set attempt_cap = ${value} where id = $1`;
    expect(await failing(cap(3), cap(2), [running.id])).toEqual(['round_froze_its_terms']);
    const second = await failing(
      `
      insert into rounds select (jsonb_populate_record(r,
        jsonb_build_object('id', $2::uuid, 'number', 2, 'status', 'cancelled'))).* from rounds r where r.id = $1`,
      'delete from rounds where id = $2 and $1::uuid is not null',
      [running.id, newId()],
    );
    expect(second).toEqual(['round_has_its_tally_and_board', 'one_open_round_per_tournament']);
  });

  it('the audit finds ranks and payouts that do not follow from the board and the purse', async () => {
    const byRank = (assignment: string, rank: number) =>
      `update entries set ${assignment} where round_id = $1 and final_rank = ${rank}`;
    const values = [settling.id];
    expect(await failing(byRank('final_rank = 9', 4), byRank('final_rank = 4', 9), values)).toEqual([
      'final_ranks_are_the_board',
    ]);
    expect(await failing(byRank('payout_cents = 1', 4), byRank('payout_cents = 0', 4), values)).toEqual([
      'payouts_are_the_frozen_purse',
    ]);
    const payout = (assignment: string) =>
      `update round_payouts set ${assignment} where round_id = $1 and final_rank = 1`;
    expect(await failing(payout('amount_cents = 1'), payout('amount_cents = 10000'), values)).toEqual([
      'payouts_are_the_frozen_purse',
    ]);
  });

  it('the audit finds a round that is settled or cancelled too early', async () => {
    expect(
      await failing(
        `update rounds set status = 'settled', settled_at = now() where id = $1`,
        `update rounds set status = 'settling', settled_at = null where id = $1`,
        [settling.id],
      ),
    ).toEqual(['settled_round_is_complete']);
    const status = (value: string) => `update rounds set status = '${value}' where id = $1`;
    expect(await failing(status('cancelled'), status('cancelling'), [cancelling.id])).toEqual([
      'cancelled_round_is_refunded',
      'entry_refund_is_due_exactly_while_ending',
    ]);
    expect(await failing(status('cancelling'), status('open'), [running.id])).toEqual([
      'round_that_is_over_has_no_open_attempt',
    ]);
  });

  it('the audit finds a round that settles although an operator cancelled the round', async () => {
    const triggers = (verb: string) =>
      h.database.query({ text: `alter table round_cancellations ${verb} trigger user` });
    await triggers('disable');
    const cancel = `
      insert into round_cancellations (round_id, cancelled_at, cancelled_by, reason)
      select id, greatest(closes_at, opens_at), 'ada', 'x' from rounds where id = $1`;
    const restore = 'delete from round_cancellations where round_id = $1';
    expect(await failing(cancel, restore, [settling.id])).toEqual(['round_that_an_operator_cancelled_does_not_run']);
    await triggers('enable');
  });

  it('the audit finds a refund that is missing from the queue, and one that is not due', async () => {
    const set = (status: string) => `update attempts set status = '${status}' where id = $1`;
    expect(await failing(set('expiring'), set('open'), [open.id])).toEqual([
      'entry_refund_is_due_exactly_while_ending',
    ]);
    expect(
      await failing(
        'insert into refunds_due (attempt_id, since) values ($1, now())',
        'delete from refunds_due where attempt_id = $1',
        [scored.id],
      ),
    ).toEqual(['entry_refund_is_due_exactly_while_ending']);
  });

  it('the audit finds a receipt without its signing key', async () => {
    const key = (by: string) => `update outcomes set signing_key_id = signing_key_id ${by} where attempt_id = $1`;
    expect(await failing(key('+ 100'), key('- 100'), [scored.id])).toEqual(['run_receipt_has_its_key']);
  });

  it('the audit reads attempts and payouts in the order of their ids, page by page', async () => {
    const lowest = '00000000-0000-0000-0000-000000000000';
    const ids: string[] = [];
    for (let after = lowest; ; ) {
      const page = await pageOfAttempts(h.database, after, 5);
      expect([...(await rereadAttempts(h.database, [...page.keys()])).values()]).toEqual(
        expect.arrayContaining([...page.values()]),
      );
      ids.push(...page.keys());
      const last = [...page.keys()].at(-1);
      if (last === undefined) break;
      after = last;
    }
    expect(ids).toEqual(ids.toSorted());
    expect(ids.length).toBe(25);
    const payouts = await pageOfPayouts(h.database, lowest, 10);
    expect([...payouts.values()].map(({ roundId, status }) => [roundId, status])).toEqual(
      Array(3).fill([settling.id, 'paying']),
    );
    expect(await rereadPayouts(h.database, [...payouts.keys()])).toEqual(payouts);
    expect(await changeRoundStatus(h.database, running.id, 'settling', 'settled')).toBe(false);
  });

  it('the audit accepts every board that reports produce, whatever the scores', async () => {
    const value = fc.oneof(
      fc.constantFrom(
        0,
        -0,
        5e-324,
        -5e-324,
        1e-316,
        2.2e-308,
        1,
        1 + Number.EPSILON,
        Number.MAX_VALUE,
        -Number.MAX_VALUE,
      ),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const direction = fc.constantFrom<Direction>('higher_is_better', 'lower_is_better');
    const runs = fc.array(fc.tuple(fc.nat(2), value, fc.option(value)), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(direction, direction, runs, async (is, ofTiebreak, reported) => {
        const tiebreak = { metricName: 'seconds', direction: ofTiebreak };
        const round = await h.openRound({ attemptCap: 9, direction: is, tiebreak });
        const players = playersOf(3);
        for (const [index, score, value] of reported) {
          const [attempt] = await h.enter(round, [players[index] as (typeof players)[number]]);
          if (attempt === undefined) throw new Error('no attempt');
          await h.report([{ attemptId: attempt.id, score, tiebreak: value }], undefined, { chunkEntries: 2 });
        }
      }),
      { numRuns: 30 },
    );
    expect(await h.violations()).toEqual([]);
  });
});

async function unscoredEntry(): Promise<string> {
  const [attempt] = await h.enter(running, playersOf(1));
  if (attempt === undefined) throw new Error('no attempt');
  return attempt.entryId;
}
