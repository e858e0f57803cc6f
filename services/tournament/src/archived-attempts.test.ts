/** What the service still returns about the attempts of an archived round, and their audit. */
import { ItemKind } from '@laurel/proto/common';
import { archiveRounds, expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { awardIdOfRank } from './domain/purse.ts';
import { boardOf, receiptOf, tableOf } from './rounds.fixture.ts';
import {
  BY_SECONDS,
  created,
  HOUR_MS,
  OTHER_PROGRAM,
  PROGRAM,
  recorded,
  useHarness,
  verdictOf,
} from './tournament.fixture.ts';

const h = useHarness();

const get = (attemptId: string, tenant = PROGRAM) => h.tournament.getAttempt({ tenant, attemptId });
const describeIt = async (attemptId: string) =>
  expectAccepted(await h.tournament.describeAttempt({ programId: PROGRAM.programId, attemptId, anyProgram: false }));
const lookUp = async (id: string) => expectAccepted(await h.tournament.lookUpId({ id })).items;
const close = async (roundId: string) => {
  expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId }));
  // The next round does not close at the same instant.
  h.clock.advance(1);
};
const archive = (...ids: readonly string[]) => archiveRounds((text, values) => h.database.query({ text }, values), ids);

/** A settled round: two players with two scores each, a voided attempt and one without a score. */
async function settledRound() {
  const round = await h.openRound({ ...BY_SECONDS, attemptCap: 4 });
  const [first, second] = [await h.player(), await h.player()];
  const operationId = newId();
  const attempts: string[] = [];
  const receipts: string[] = [];
  for (const [player, score] of [
    [first, 10],
    [first, 9],
    [second, 5],
    [second, 7],
  ] as const) {
    const { id } = created(await h.create(round.id, player.ref));
    const options = { tiebreak: 3, evidence: '{"replay":1}', ...(attempts.length === 0 && { operationId }) };
    receipts.push(recorded(await h.report(id, score, options)).receiptId);
    attempts.push(id);
    h.clock.advance(1);
  }
  const voided = created(await h.create(round.id, second.ref)).id;
  expectAccepted(await h.tournament.voidAttempt({ attemptId: voided, reason: 'a broken game' }));
  const unscored = created(await h.create(round.id, first.ref)).id;
  await close(round.id);
  await h.server.sweepOnce();
  return { round, first, second, attempts, receipts, operationId, voided, unscored };
}

describe('an archived round', () => {
  it('a partner reads each attempt of an archived round as before, but without its metadata', async () => {
    const { round, attempts, voided, unscored } = await settledRound();
    const ids = [...attempts, voided, unscored];
    const read = () => Promise.all(ids.map(async (id) => expectAccepted(await get(id)).attempt));
    const before = await read();
    await archive(round.id);
    expect(before.map((attempt) => attempt?.metadataJson)).toEqual(ids.map(() => '{"a":1}'));
    expect(await read()).toEqual(before.map((attempt) => ({ ...attempt, metadataJson: '{}' })));
    expect(await get(voided, OTHER_PROGRAM)).toMatchObject({ code: 'not_found' });
  });

  it('the portal and operators read the same of an attempt after its round is archived, except its metadata', async () => {
    const { round, first, attempts, receipts } = await settledRound();
    const [attemptId = '', receiptId = ''] = [attempts[0], receipts[0]];
    const described = await describeIt(attemptId);
    expect(described.awardId).toBe(awardIdOfRank(round.id, 1));
    const found = await Promise.all([lookUp(attemptId), lookUp(receiptId)]);
    await archive(round.id);
    expect(await describeIt(attemptId)).toEqual({
      ...described,
      attempt: { ...described.attempt, metadataJson: '{}' },
    });
    const inspected = expectAccepted(await h.tournament.inspectAttempt({ attemptId }));
    expect(inspected.accountId).toBe(first.accountId);
    expect(await Promise.all([lookUp(attemptId), lookUp(receiptId)])).toEqual(found);
    expect(found.flat().map(({ kind }) => kind)).toEqual([ItemKind.ATTEMPT, ItemKind.RECEIPT]);
  });

  it('the board, the standings and the purse of an archived round stay as they are', async () => {
    const { round, first } = await settledRound();
    const read = async () => ({
      board: await boardOf(h, round.id, first.ref),
      table: await tableOf(h, round.id),
      inspected: expectAccepted(await h.tournament.inspectStandings({ roundId: round.id, cursor: '', limit: 10 })),
      one: expectAccepted(
        await h.tournament.inspectStandings({ roundId: round.id, cursor: '', limit: 10, accountId: first.accountId }),
      ),
    });
    const before = await read();
    expect(before.inspected.rows).toHaveLength(2);
    await archive(round.id);
    expect(await read()).toEqual(before);
  });

  it('the receipt of an archived round is not found, and the message says that the archive has the receipt', async () => {
    const { round, receipts } = await settledRound();
    const other = await settledRound();
    await archive(round.id);
    for (const receiptId of receipts) {
      expect(await h.tournament.getReceipt({ receiptId })).toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('archive'),
      });
    }
    expect((await receiptOf(h, other.receipts[0] ?? '')).seal).not.toBeNull();
    expect(await h.tournament.getReceipt({ receiptId: newId() })).not.toMatchObject({
      message: expect.stringContaining('archive'),
    });
  });

  it('once the deletion of a month has begun, no receipt of it is found, so none is proven by missing leaves', async () => {
    const { round, receipts } = await settledRound();
    const [receiptId = ''] = receipts;
    await archiveRounds(
      async (text, values) => {
        if (text.includes('insert into archived_months')) await h.database.query({ text }, values);
      },
      [round.id],
    );
    expect(await h.tournament.getReceipt({ receiptId })).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('archive'),
    });
    await h.database.query({
      text: 'delete from archived_months m where not exists (select from archived_batches b where b.month = m.month)',
    });
    expect((await receiptOf(h, receiptId)).seal).not.toBeNull();
  });

  it('a report on an attempt of an archived round gets the same response as before', async () => {
    const { round, attempts, receipts, operationId, voided, unscored } = await settledRound();
    const [scored = ''] = attempts;
    const ended = [scored, voided, unscored];
    const report = (score: number) => h.report(scored, score, { operationId, tiebreak: 3, evidence: '{"replay":1}' });
    const respond = async () => ({
      again: recorded(await report(10)),
      other: verdictOf(await report(9)),
      late: await Promise.all(ended.map(async (id) => verdictOf(await h.report(id, 1, { tiebreak: 1 })))),
      voids: await Promise.all(ended.map((attemptId) => h.tournament.voidAttempt({ attemptId, reason: 'x' }))),
      expiries: await Promise.all(ended.map((attemptId) => h.tournament.expireAttempt({ tenant: PROGRAM, attemptId }))),
    });
    const before = await respond();
    expect(before).toMatchObject({
      again: { receiptId: receipts[0] },
      other: 'attempt_already_settled',
      late: ['attempt_already_settled', 'attempt_already_settled', 'round_closed'],
    });
    await archive(round.id);
    expect(await respond()).toEqual(before);
    expect(verdictOf(await h.report(newOwnedId('tournament'), 1))).toBe('not_found');
  });

  it('repeating the creation of an archived attempt returns the first result and charges nothing', async () => {
    const round = await h.openRound();
    const player = await h.player();
    const old = newOwnedId('tournament', later(h.clock(), -48 * HOUR_MS));
    const first = created(await h.create(round.id, player.ref, old));
    recorded(await h.report(old, 1));
    await close(round.id);
    const balance = await h.balance(player.accountId);
    await archive(round.id);
    expect(created(await h.create(round.id, player.ref, old))).toEqual({ ...first, metadataJson: '{}' });
    const another = await h.openRound();
    expect(verdictOf(await h.create(another.id, player.ref, old))).toBe('not_found');
    expect(await h.balance(player.accountId)).toBe(balance);
  });

  it('an abandoned attempt that is archived is not restarted', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    await h.database.query(
      { text: `update attempts set status = 'refused', closed_reason = 'abandoned' where id = $1` },
      [attemptId],
    );
    const old = newOwnedId('tournament', later(h.clock(), -48 * HOUR_MS));
    await h.database.query({ text: 'update attempts set id = $2 where id = $1' }, [attemptId, old]);
    await close(round.id);
    await archive(round.id);
    expect(await get(old)).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await h.report(old, 1))).toBe('not_found');
    expect(verdictOf(await h.create(round.id, player.ref, old))).toBe('entries_closed');
    const another = await h.openRound();
    expect(verdictOf(await h.create(another.id, player.ref, old))).toBe('not_found');
  });
});

describe('the audit of archived rounds', () => {
  const round = fc.record({
    scores: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 5 }),
    isCancelled: fc.boolean(),
    hasOpen: fc.boolean(),
  });

  it('the audit finds nothing after each archived round, whatever was played', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(round, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4 }),
        async (rounds, maxPageSize) => {
          const over: string[] = [];
          for (const { scores, isCancelled, hasOpen } of rounds) {
            const { id } = await h.openRound({ attemptCap: 9, ...(isCancelled && { minEntrants: 9 }) });
            const players = [await h.player(), await h.player()];
            for (const [index, score] of scores.entries()) {
              const { ref = '' } = players[index % 2] ?? {};
              recorded(await h.report(created(await h.create(id, ref)).id, score));
            }
            if (hasOpen) created(await h.create(id, players[0]?.ref ?? ''));
            await close(id);
            over.push(id);
          }
          await h.server.sweepOnce();
          const audit = h.auditInSlices({ runBudgetMs: 0, maxPageSize });
          for (const id of over) {
            await audit.run();
            await archive(id);
            expect((await audit.run()).filter(({ violations }) => violations > 0n)).toEqual([]);
          }
          expect(await h.violations()).toEqual([]);
        },
      ),
      { numRuns: 6 },
    );
  }, 120_000);

  const failing = async (id: string, damage: string, repair: string) => {
    await h.database.query({ text: damage }, [id]);
    const found = (await h.violations()).map((violation) => violation.split(':')[0] ?? '');
    await h.database.query({ text: repair }, [id]);
    expect(await h.violations()).toEqual([]);
    return found;
  };

  it('the audit finds an archived attempt whose fee, status, score or entry differs', async () => {
    const { round, attempts } = await settledRound();
    await archive(round.id);
    const [id = ''] = attempts;
    const set = (what: string) => `update archived_attempts set ${what} where id = $1`;
    const damages = [
      ['fee_cents = 99', 'fee_cents = 500', ['attempt_has_its_entry', 'visible_entry_has_its_fee']],
      ['score = 99', 'score = 10', ['best_run_is_the_best']],
      [
        'entry_id = gen_random_uuid()',
        `entry_id = (select e.id from entries e where e.round_id = archived_attempts.round_id and e.account_id = archived_attempts.account_id)`,
        ['attempt_has_its_entry', 'best_run_is_the_best'],
      ],
    ] as const;
    for (const [damage, repair, checks] of damages)
      expect(await failing(id, set(damage), set(repair))).toEqual(expect.arrayContaining([...checks]));
  });

  it('the audit finds a deleted month that no longer adds up to its manifest', async () => {
    const { round, voided } = await settledRound();
    await archive(round.id);
    await h.database.query(
      {
        text: `
      update archived_months m set begun_at = now() - interval '1 day', deleted_at = now() - interval '2 hours', totals = (
        select jsonb_agg(t) from (
          select 'attempts' as "table", r.environment, a.status, count(*) as rows, sum(a.fee_cents)::text as cents
          from archived_attempts a join rounds r on r.id = a.round_id where r.id = $1 group by r.environment, a.status
        ) t)
      where m.begins_at = (select closes_at from rounds where id = $1)`,
      },
      [round.id],
    );
    expect(await h.violations()).toEqual([]);
    const set = (what: string) => `update archived_attempts set ${what} where id = $1`;
    expect(
      await failing(
        voided,
        set(`status = 'expired', closed_reason = null`),
        set(`status = 'voided', closed_reason = 'a broken game'`),
      ),
    ).toEqual(['archived_month_of_rounds_keeps_its_totals']);
    await h.database.query({ text: 'update archived_months set deleted_at = null' });
  });

  it('the audit finds an archived attempt that is missing, that exists twice, or that belongs to no batch', async () => {
    const { round, voided } = await settledRound();
    await archive(round.id);
    const copy = `insert into attempts
      (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at, fee_generation, closed_reason)
      select id, round_id, entry_id, account_id, player_ref, status, fee_cents, '{}', created_at, fee_generation, closed_reason
      from archived_attempts where id = $1`;
    expect(await failing(voided, copy, 'delete from attempts where id = $1')).toEqual([
      'round_attempt_is_kept_once',
      'archived_batch_of_rounds_kept_its_attempts',
    ]);
    const batch = (what: string) => `update archived_batches set ${what} where least_round_id = $1`;
    expect(await failing(round.id, batch('deleted_at = null'), batch('deleted_at = now()'))).toEqual([
      'archived_round_attempt_is_of_a_batch',
    ]);
    expect(await failing(round.id, batch('attempts = 5'), batch('attempts = 6'))).toEqual([
      'archived_batch_of_rounds_kept_its_attempts',
    ]);
  });
});
