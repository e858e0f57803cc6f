/**
 * Attempts as developers and operators see them: the list of attempts, and the history of one
 * attempt.
 */
import { attemptsOfAccountSql, attemptWindowSql, ROWS_OF_ACCOUNT_WINDOW, ROWS_OF_WINDOW } from '@laurel/attempts';
import type { Attempt } from '@laurel/proto/attempts';
import { AttemptStatus } from '@laurel/proto/attempts';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { ATTEMPT_FACTS, nameOf } from '@laurel/proto/enum-names';
import { expectAccepted } from '@laurel/testing';
import {
  createAttemptList,
  itDescribesAttempts,
  itListsAttempts,
  itLooksUpIds,
  type ListedContest,
} from '@laurel/testing/list-attempts';
import { newId } from '@laurel/values/ids';
import { describe, expect, it, onTestFinished } from 'vitest';
import { created, HOUR_MS, PROGRAM, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();

const OWNER: ListedContest = {
  contestService: 'challenge',
  tenant: PROGRAM,
  harness: h,
  service: () => h.challenge,
  fundsCents: 100_000n,
  feeCents: 100n,
  ttlMs: HOUR_MS,
  ownRows: 'array(select row_to_json(w) from awards w where w.attempt_id = $1)',
  insertRefused: `
insert into attempts
  (id, challenge_id, account_id, player_ref, status, closed_reason, fee_cents, prize_cents, threshold, metadata, created_at)
select i.id, challenge_id, account_id, player_ref, 'refused', 'a test', fee_cents, prize_cents, threshold, metadata, $3
from attempts a, unnest($2::uuid[]) i (id) where a.id = $1`,
  async openAttempt() {
    const { challenge, player, attempt } = await h.openAttempt({ dailyAttemptCap: 100 });
    return { attempt, player, again: async (id) => created(await h.create(challenge.id, player.ref, id)) };
  },
  async pendingAttempt() {
    const { challenge, player, attemptId } = await h.pendingAttempt();
    return { attemptId, player, again: async (id) => created(await h.create(challenge.id, player.ref, id)) };
  },
  reportOutcome: async (attemptId) => recorded(await h.report(attemptId, 99)),
};

/**
 * Removes the rows that a test has added by SQL, so that the audit at the end of this file reads
 * the rows of the service only.
 */
async function removeMany(): Promise<void> {
  await h.database.transaction(async (tx) => {
    // Skips the check of every other table for each removed row.
    await tx.query({ text: 'set local session_replication_role = replica' });
    await tx.query({ text: `delete from attempts where player_ref ~ '^ref(-[0-9]+)?$'` });
    await tx.query({ text: `delete from challenges where name = 'one of many'` });
  });
}

describe('the attempts of a challenge that developers and operators list', () => {
  itListsAttempts(OWNER);
  itDescribesAttempts(OWNER);
  itLooksUpIds(OWNER);

  it('a page among 100,000 attempts reads by index, at most one window, and stops when it is full', async () => {
    onTestFinished(removeMany);
    const challenge = await h.open({}, { status: ChallengeStatus.CALIBRATING });
    const [at, { programId }] = [h.clock(), PROGRAM];
    await h.database.query(
      {
        text: `
insert into attempts (id, challenge_id, player_ref, status, fee_cents, prize_cents, metadata, created_at)
select gen_random_uuid(), $1, 'ref-' || n, 'expired', 0, 0, '{"level": 7}', $2::timestamptz - n * interval '1 ms'
from generate_series(1, 100000) n order by n desc`,
      },
      [challenge.id, at],
    );
    await h.database.query({ text: 'vacuum analyze attempts' });
    const middle = new Date(at.getTime() - 50_000);
    for (const order of ['newest_first', 'oldest_first'] as const) {
      for (const ofProgram of [programId, newId()]) {
        const plan = await h.database.query<{ 'QUERY PLAN': string }>(
          { text: `explain (analyze, buffers, costs off, timing off) ${attemptWindowSql('challenge', order)}` },
          [middle, newId(), at, ofProgram, 'test', null, null, ['open', 'expired'], 50],
        );
        const text = plan.map((row) => row['QUERY PLAN']).join('\n');
        expect(text).toContain('Index Scan');
        expect(text).toContain('attempts_by_age');
        expect(text).not.toContain('Seq Scan on attempts');
        // The scan reads at most the rows of the page or window, and up to 32 more that the plan
        // sorts in the same step.
        const read = /attempts_by_age on attempts \(actual rows=([\d.]+)/.exec(text)?.[1];
        expect(Number(read), text).toBeLessThanOrEqual((ofProgram === programId ? 50 : ROWS_OF_WINDOW) + 32);
        // A page of the table has about 32 rows. The scan reads the table's pages with the rows of
        // the window, and pages of the index.
        const pages = /Buffers: shared hit=(\d+)/.exec(text)?.[1];
        expect(Number(pages), text).toBeLessThan(200);
      }
    }
  }, 60_000);

  it('an account’s page among 100,000 attempts at 1,000 challenges reads only its own attempts', async () => {
    onTestFinished(removeMany);
    const challenge = await h.open({}, { status: ChallengeStatus.CALIBRATING });
    const [at, accountId] = [h.clock(), newId()];
    await h.database.query(
      {
        text: `
with more as (
  insert into challenges
  select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'name', 'one of many'))).*
  from challenges c, generate_series(1, 1000) where c.id = $1 returning id
), numbered as (select id, row_number() over () as n from more)
insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, metadata, created_at)
select gen_random_uuid(), id, case when g = 0 and n <= 300 then $3::uuid else gen_random_uuid() end, 'ref', 'expired', 0, 0, '{}',
  $2::timestamptz - (n + g * 1000) * interval '1 ms'
from numbered, generate_series(0, 99) g`,
      },
      [challenge.id, at, accountId],
    );
    await h.database.query({ text: 'vacuum analyze attempts, challenges' });
    const plan = await h.database.query<{ 'QUERY PLAN': string }>(
      { text: `explain (analyze, buffers, costs off, timing off) ${attemptsOfAccountSql('challenge')}` },
      [accountId, at, newId(), null, ['open', 'expired'], null, null, null, 200],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('attempts_by_player');
    expect(text).not.toContain('Seq Scan on attempts');
    const pages = /Buffers: shared hit=(\d+)/.exec(text)?.[1];
    expect(Number(pages), text).toBeLessThan(5_000);
    const { listAll } = createAttemptList(OWNER);
    h.clock.advance(2_100);
    expect((await listAll({ accountId, tenant: undefined, limit: 200 })).length).toBe(300);
    const ofPrograms = async (...programIds: string[]) =>
      (await listAll({ accountId, tenant: undefined, programIds })).length;
    expect([await ofPrograms(PROGRAM.programId, newId()), await ofPrograms(newId())]).toEqual([300, 0]);
  }, 60_000);

  it('a page of an account with 20,000 attempts reads a limited number of them', async () => {
    onTestFinished(removeMany);
    const challenge = await h.open({}, { status: ChallengeStatus.CALIBRATING });
    const [at, accountId] = [h.clock(), newId()];
    await h.database.query(
      {
        text: `
with more as (
  insert into challenges
  select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'name', 'one of many'))).*
  from challenges c, generate_series(1, 1000) where c.id = $1 returning id
), numbered as (select id, row_number() over () as n from more)
insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, metadata, created_at)
select gen_random_uuid(), id, $3, 'ref', case when n <= 2 and g = 19 then 'open' else 'expired' end, 0, 0, '{}',
  $2::timestamptz - (n + g * 1000) * interval '1 ms'
from numbered, generate_series(0, 19) g`,
      },
      [challenge.id, at, accountId],
    );
    await h.database.query({ text: 'vacuum analyze attempts, challenges' });
    const plan = await h.database.query<{ 'QUERY PLAN': string }>(
      { text: `explain (analyze, costs off, timing off) ${attemptsOfAccountSql('challenge')}` },
      [accountId, at, newId(), null, ['open', 'expired'], null, null, null, 200],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    const read = [...text.matchAll(/Index Scan Backward using attempts_by_player .*rows=([\d.]+) loops=(\d+)/g)];
    expect(read, text).toHaveLength(1);
    const [, rows, loops] = read[0] ?? [];
    expect(Number(rows) * Number(loops), text).toBeLessThan(1.5 * ROWS_OF_ACCOUNT_WINDOW);
    const { listAll } = createAttemptList(OWNER);
    h.clock.advance(2_100);
    const ofAccount = { accountId, tenant: undefined, limit: 200 };
    expect(new Set(await listAll(ofAccount)).size).toBe(20_000);
    expect(await listAll({ ...ofAccount, status: AttemptStatus.OPEN })).toHaveLength(2);
  }, 60_000);

  it('the history of an attempt that won shows what became of the award', async () => {
    const kindsOf = async ({ id }: Pick<Attempt, 'id'>) => {
      const { facts } = expectAccepted(
        await h.challenge.describeAttempt({ programId: PROGRAM.programId, attemptId: id, anyProgram: false }),
      );
      return facts.map(({ kind }) => nameOf(ATTEMPT_FACTS, kind)).slice(2);
    };
    const win = async (isHeld: boolean) => {
      const { attempt, player } = await h.openAttempt();
      if (isHeld) expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: player.ref } }));
      const { award } = recorded(await h.report(attempt.id, 100));
      return { id: attempt.id, awardId: award?.id ?? '' };
    };
    const [paid, held, released, denied] = [await win(false), await win(true), await win(true), await win(true)];
    expectAccepted(await h.challenge.releaseAward({ awardId: released.awardId }));
    expectAccepted(await h.challenge.denyAward({ awardId: denied.awardId }));
    expect(await kindsOf(paid)).toEqual(['settled', 'award_paid']);
    expect(await kindsOf(held)).toEqual(['settled', 'award_held']);
    expect(await kindsOf(released)).toEqual(['settled', 'award_held', 'award_released']);
    expect(await kindsOf(denied)).toEqual(['settled', 'award_held', 'award_denied']);
    const { isAwardDenied, eventIds, awardId } = expectAccepted(
      await h.challenge.describeAttempt({ programId: PROGRAM.programId, attemptId: denied.id, anyProgram: false }),
    );
    expect([isAwardDenied, eventIds.length, awardId]).toEqual([true, 3, denied.awardId]);
    const [event] = await h.eventsOf(paid.id);
    const { eventIds: ofPaid } = expectAccepted(
      await h.challenge.describeAttempt({ programId: PROGRAM.programId, attemptId: paid.id, anyProgram: false }),
    );
    expect(ofPaid).toContain(event?.id);
  });
});
