/** What the service still returns about an archived attempt, and how the audit counts it. */
import { AttemptStatus } from '@laurel/proto/attempts';
import { ItemKind } from '@laurel/proto/common';
import { archiveAttempts, expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, OTHER_PROGRAM, PROGRAM, recorded, useHarness, verdictOf } from './challenge.fixture.ts';

const h = useHarness();

const get = (attemptId: string, tenant = PROGRAM) => h.challenge.getAttempt({ tenant, attemptId });
const describeIt = async (attemptId: string) =>
  expectAccepted(await h.challenge.describeAttempt({ programId: PROGRAM.programId, attemptId, anyProgram: false }));
const lookUp = async (id: string) => expectAccepted(await h.challenge.lookUpId({ id })).items;
const archive = (...ids: readonly string[]) =>
  archiveAttempts((text, values) => h.database.query({ text }, values), ids);

/** A settled attempt that won, and how to report on it again. */
async function settledAttempt() {
  const { challenge, player, attempt } = await h.openAttempt();
  const operationId = newId();
  const outcome = recorded(await h.report(attempt.id, 100, operationId, '{"replay":1}'));
  await h.server.sweepOnce();
  return { challenge, player, attempt, operationId, outcome };
}

describe('an archived attempt', () => {
  it('a partner reads an archived attempt with its outcome and award, but without its metadata', async () => {
    const { attempt } = await settledAttempt();
    const before = expectAccepted(await get(attempt.id)).attempt;
    await archive(attempt.id);
    const after = expectAccepted(await get(attempt.id)).attempt;
    expect(before?.metadataJson).toBe('{"a":1}');
    expect(after).toEqual({ ...before, metadataJson: '{}' });
    expect(await get(attempt.id, OTHER_PROGRAM)).toMatchObject({ code: 'not_found' });
  });

  it('the portal and operators read the same of an attempt after it is archived, except its metadata', async () => {
    const { attempt, outcome, player } = await settledAttempt();
    const described = await describeIt(attempt.id);
    const found = await Promise.all([lookUp(attempt.id), lookUp(outcome.receiptId)]);
    await archive(attempt.id);
    expect(await describeIt(attempt.id)).toEqual({
      ...described,
      attempt: { ...described.attempt, metadataJson: '{}' },
    });
    expect(expectAccepted(await h.challenge.inspectAttempt({ attemptId: attempt.id })).accountId).toBe(
      player.accountId,
    );
    expect(await Promise.all([lookUp(attempt.id), lookUp(outcome.receiptId)])).toEqual(found);
    expect(found.flat().map(({ kind }) => kind)).toEqual([ItemKind.ATTEMPT, ItemKind.RECEIPT]);
  });

  it('the receipt of an archived attempt is not found, and the message says that the archive has the receipt', async () => {
    const { attempt, outcome } = await settledAttempt();
    expectAccepted(await h.challenge.getReceipt({ receiptId: outcome.receiptId }));
    await archive(attempt.id);
    expect(await h.challenge.getReceipt({ receiptId: outcome.receiptId })).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('archive'),
    });
    expect(await h.challenge.getReceipt({ receiptId: newId() })).not.toMatchObject({
      message: expect.stringContaining('archive'),
    });
  });

  it('a report on an archived attempt gets the same response as before the attempt was archived', async () => {
    const { attempt, operationId, outcome } = await settledAttempt();
    const ended = (await h.openAttempt()).attempt;
    expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: ended.id }));
    const voided = (await h.openAttempt()).attempt;
    expectAccepted(await h.challenge.voidAttempt({ attemptId: voided.id, reason: 'a broken game' }));
    const read = await Promise.all(
      [ended.id, voided.id].map(async (id) => expectAccepted(await get(id)).attempt?.status),
    );
    expect(read).toEqual([AttemptStatus.EXPIRED, AttemptStatus.VOIDED]);
    await archive(attempt.id, ended.id, voided.id);
    for (const id of [attempt.id, ended.id, voided.id]) {
      expect(verdictOf(await h.report(id, 1))).toBe('attempt_already_settled');
      expect(await h.challenge.voidAttempt({ attemptId: id, reason: 'x' })).toMatchObject({ code: 'conflict' });
      expect(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: id })).toMatchObject({
        code: 'attempt_already_settled',
      });
    }
    expect(recorded(await h.report(attempt.id, 100, operationId, '{"replay":1}'))).toEqual(outcome);
    expect(verdictOf(await h.report(attempt.id, 99, operationId, '{"replay":1}'))).toBe('attempt_already_settled');
    expect(verdictOf(await h.report(newOwnedId('challenge'), 1))).toBe('not_found');
    expect(
      await Promise.all([ended.id, voided.id].map(async (id) => expectAccepted(await get(id)).attempt?.status)),
    ).toEqual(read);
  });

  it('repeating the creation of an archived attempt returns the first result and charges nothing', async () => {
    const challenge = await h.open({ dailyAttemptCap: 5 });
    const player = await h.player();
    const old = newOwnedId('challenge', later(h.clock(), -48 * HOUR_MS));
    const first = created(await h.create(challenge.id, player.ref, old));
    recorded(await h.report(old, 1));
    await h.server.sweepOnce();
    const balance = await h.balance(player.accountId);
    await archive(old);
    expect(created(await h.create(challenge.id, player.ref, old))).toEqual({ ...first, metadataJson: '{}' });
    expect(await h.balance(player.accountId)).toBe(balance);
    const another = await h.open();
    expect(verdictOf(await h.create(another.id, player.ref, old))).toBe('not_found');
  });

  it('an abandoned attempt that is archived is not restarted', async () => {
    const { challenge, player, attemptId } = await h.pendingAttempt();
    await h.database.query(
      { text: `update attempts set status = 'refused', closed_reason = 'abandoned' where id = $1` },
      [attemptId],
    );
    const old = newOwnedId('challenge', later(h.clock(), -48 * HOUR_MS));
    await h.database.query({ text: 'update attempts set id = $2 where id = $1' }, [attemptId, old]);
    await archive(old);
    expect(await get(old)).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await h.report(old, 1))).toBe('not_found');
    expect(verdictOf(await h.create(challenge.id, player.ref, old))).toBe('challenge_not_available');
  });

  it('the paid scores of a challenge count as incomplete once one of its attempts is archived', async () => {
    const { challenge, attempt } = await settledAttempt();
    const request = { challengeId: challenge.id, programId: PROGRAM.programId, anyProgram: false, bins: 5 };
    const read = async () => expectAccepted(await h.challenge.getChallengeStatistics(request));
    const before = await read();
    expect(before.scores).toMatchObject({ count: 1n });
    recorded(await h.report(created(await h.create(challenge.id, (await h.player()).ref)).id, 1));
    await h.server.sweepOnce();
    await archive(attempt.id);
    const after = await read();
    expect(after.scores).toMatchObject({ count: 1n, isComplete: false });
    expect(after.passRate).toMatchObject({ attempts: 2n, passes: 1n });
  });
});

describe('the audit of archived attempts', () => {
  const play = fc.array(
    fc.record({ ends: fc.constantFrom('won', 'lost', 'expired', 'voided', 'open'), isArchived: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );

  it('the audit finds nothing after each archived batch, whatever attempts are archived', async () => {
    await fc.assert(
      fc.asyncProperty(play, fc.integer({ min: 1, max: 4 }), async (attempts, maxPageSize) => {
        const challenge = await h.open({ dailyAttemptCap: 10 });
        const played: string[] = [];
        for (const { ends, isArchived } of attempts) {
          const { id } = created(await h.create(challenge.id, (await h.player()).ref));
          if (ends === 'won' || ends === 'lost') recorded(await h.report(id, ends === 'won' ? 100 : 1));
          if (ends === 'expired') expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: id }));
          if (ends === 'voided') expectAccepted(await h.challenge.voidAttempt({ attemptId: id, reason: 'x' }));
          if (isArchived && ends !== 'open') played.push(id);
        }
        await h.server.sweepOnce();
        const audit = h.auditInSlices({ runBudgetMs: 0, maxPageSize });
        for (const id of played) {
          await audit.run();
          await archive(id);
          expect((await audit.run()).filter(({ violations }) => violations > 0n)).toEqual([]);
        }
        expect(await h.violations()).toEqual([]);
      }),
      { numRuns: 10 },
    );
  }, 120_000);

  const failing = async (attemptId: string, damage: string, repair: string) => {
    await h.database.query({ text: damage }, [attemptId]);
    const found = (await h.violations()).map((violation) => violation.split(':')[0] ?? '');
    await h.database.query({ text: repair }, [attemptId]);
    expect(await h.violations()).toEqual([]);
    return found;
  };

  it('the audit finds an archived attempt whose fee, bar, outcome or award differs', async () => {
    const { attempt } = await settledAttempt();
    await archive(attempt.id);
    const set = (what: string) => `update archived_attempts set ${what} where id = $1`;
    const damages = [
      ['fee_cents = 99', 'fee_cents = 100', ['visible_attempt_has_its_fee']],
      ['prize_cents = 1', 'prize_cents = 2000', ['award_follows_from_its_attempt']],
      ['threshold = 101', 'threshold = 100', ['met_threshold_follows_frozen_bar']],
      [
        'met_threshold = false',
        'met_threshold = true',
        [
          'met_threshold_follows_frozen_bar',
          'award_follows_from_its_attempt',
          'monitor_counts_no_outcome_twice',
          'monitor_counts_every_outcome',
        ],
      ],
    ] as const;
    for (const [damage, repair, checks] of damages)
      expect(await failing(attempt.id, set(damage), set(repair))).toEqual(checks);
  });

  it('the audit finds a deleted month that no longer adds up to its manifest', async () => {
    const { attempt } = await h.openAttempt();
    expectAccepted(await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'x' }));
    await archive(attempt.id);
    const end = `
      update archived_months m set begun_at = now() - interval '1 day', deleted_at = now() - interval '2 hours', totals = (
        select jsonb_agg(t) from (
          select 'attempts' as "table", c.environment, a.status, count(*) as rows, sum(a.fee_cents)::text as cents
          from archived_attempts a join challenges c on c.id = a.challenge_id group by c.environment, a.status
        ) t)`;
    await h.database.query({ text: end });
    expect(await h.violations()).toEqual([]);
    const set = (what: string) => `update archived_attempts set ${what} where id = $1`;
    expect(
      await failing(
        attempt.id,
        set(`status = 'expired', closed_reason = null`),
        set(`status = 'voided', closed_reason = 'x'`),
      ),
    ).toEqual(['archived_month_keeps_its_totals']);
    await h.database.query({ text: `update archived_months set deleted_at = null` });
  });

  it('the audit finds an archived attempt that is missing, that exists twice, or that belongs to no batch', async () => {
    const { attempt } = await h.openAttempt();
    expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id }));
    await archive(attempt.id);
    const copy = `insert into attempts
      (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at, fee_generation)
      select id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, '{}', created_at, fee_generation
      from archived_attempts where id = $1`;
    expect(await failing(attempt.id, copy, 'delete from attempts where id = $1')).toEqual([
      'attempt_is_kept_once',
      'archived_batch_kept_its_attempts',
    ]);
    const batch = (what: string) => `update archived_batches set ${what} where least_id = $1`;
    expect(await failing(attempt.id, batch('deleted_at = null'), batch('deleted_at = now()'))).toEqual([
      'archived_attempt_is_of_a_batch',
    ]);
    expect(await failing(attempt.id, batch('attempts = 2'), batch('attempts = 1'))).toEqual([
      'archived_batch_kept_its_attempts',
    ]);
  });
});
