/**
 * Outcomes that are decided on cached attempts. They are recorded if the cached facts still hold,
 * and otherwise decided again under lock.
 */

import { expectAccepted, verdictOnReceipt } from '@laurel/testing';
import { newId, receiptIdOf } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, PROGRAM, useHarness } from '../challenge.fixture.ts';
import { findReceipt } from '../repository/outcomes.ts';
import { reportOf, TENANT, useSettlements } from './outcome-settlements.fixture.ts';

const h = useHarness();
const s = useSettlements(h);

describe('an outcome of a cached attempt that has not changed', () => {
  it('an outcome of an unchanged cached attempt is recorded without a read of its row', async () => {
    const { first, second } = await s.twoAttempts();
    const instance = s.startInstance();
    await instance.cache(first, second);
    const operations = [newId(), newId()] as const;
    const [lost, won] = await Promise.all([
      instance.report(first, 99, operations[0]),
      instance.report(second, 100, operations[1]),
    ]);
    expect(instance.transactions).toBe(0);
    expect(lost).toMatchObject({ kind: 'recorded', outcome: { metThreshold: false }, won: null });
    expect(won).toMatchObject({ kind: 'recorded', outcome: { metThreshold: true } });
    const award = won.kind === 'recorded' ? won.won : null;
    expect(award).toMatchObject({
      award: { attemptId: second, amountCents: 2_000n, status: 'paying' },
      tenant: TENANT,
    });

    expect(await s.traceOf(first)).toMatchObject({ status: 'settled', award_id: null, events: 1 });
    // The event is emitted only once the wallet has decided on the award.
    expect(await s.traceOf(second)).toMatchObject({ status: 'settled', award_id: award?.award.id, events: 0 });
    expect(instance.published.map(({ payload }) => payload)).toMatchObject([{ value: { attemptId: first } }]);
    for (const [index, awarded] of [null, { id: award?.award.id, amount: '20.00' }].entries()) {
      const receipt = await findReceipt(h.database, receiptIdOf(operations[index] ?? ''));
      if (receipt === null) throw new Error('no receipt');
      expect((await verdictOnReceipt({ canonical: receipt.receipt, ...receipt })).kind).toBe('valid');
      expect(JSON.parse(receipt.receipt)).toMatchObject({ award: awarded, evidence: { replay: 'x' } });
    }
  });

  it('an outcome of a cached attempt is recorded even if the row is still pending', async () => {
    const { attempt } = await h.openAttempt();
    const instance = s.startInstance();
    await instance.cache(attempt.id);
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attempt.id]);
    expect(await instance.report(attempt.id, 1)).toMatchObject({ kind: 'recorded' });
    expect(instance.transactions).toBe(0);
  });

  it('only the first of concurrent outcomes of a cached attempt is recorded', async () => {
    const { first } = await s.twoAttempts();
    const instance = s.startInstance();
    await instance.cache(first);
    const answers = await Promise.all([
      instance.report(first, 1),
      instance.report(first, 2),
      instance.report(first, 3),
    ]);
    expect(answers).toMatchObject([
      { kind: 'recorded', outcome: { score: 1 } },
      { kind: 'settled_before' },
      { kind: 'settled_before' },
    ]);
    expect(instance.transactions).toBe(1);
  });
});

describe('a cached attempt that has changed since', () => {
  const CHANGED_SINCE: Readonly<
    Record<string, { since: (attemptId: string) => Promise<unknown>; answer: object; after?: string }>
  > = {
    'was settled': {
      since: (id) => s.other.challenge.reportOutcomes(reportOf(id, 7)),
      answer: { kind: 'settled_before' },
    },
    'was expired': {
      since: (attemptId) => s.other.challenge.expireAttempt({ tenant: PROGRAM, attemptId }),
      answer: { code: 'attempt_already_settled' },
    },
    'was voided': {
      since: (attemptId) => s.other.challenge.voidAttempt({ attemptId, reason: 'a test' }),
      answer: { code: 'attempt_already_settled' },
    },
    'was disqualified': {
      since: (id) => s.other.challenge.reportOutcomes(reportOf(id, -1)),
      answer: { code: 'score_out_of_range' },
    },
    'moved to another account': {
      since: (id) => change(id, `status = 'pending', account_id = gen_random_uuid()`),
      answer: { kind: 'unresolved' },
      after: `status = 'open', account_id = $2`,
    },
    'began again under another fee': {
      since: (id) => change(id, `status = 'pending', fee_generation = 1`),
      answer: { kind: 'unresolved' },
      after: `status = 'open', fee_generation = 0, account_id = $2`,
    },
  };

  it.each(Object.entries(CHANGED_SINCE))('a cached attempt that %s records no outcome', async (_, changed) => {
    const { attempt, player } = await h.openAttempt({ scoreMin: 0 });
    const instance = s.startInstance();
    await instance.cache(attempt.id);
    await changed.since(attempt.id);
    const before = await s.traceOf(attempt.id);
    expect(await instance.report(attempt.id, 100)).toMatchObject(changed.answer);
    expect(await s.traceOf(attempt.id)).toEqual(before);
    expect(instance.published).toEqual([]);
    expect(instance.transactions).toBe(1);
    if (changed.after !== undefined) await change(attempt.id, changed.after, player.accountId);
  });

  it('a cached attempt whose deadline has passed is reported as due', async () => {
    const { attempt } = await h.openAttempt();
    const instance = s.startInstance();
    await instance.cache(attempt.id);
    h.clock.advance(HOUR_MS);
    expect(await instance.report(attempt.id, 100)).toMatchObject({ kind: 'due' });
    await h.server.sweepOnce();
  });

  it('an outcome of a cached attempt wins no award if the prize was claimed meanwhile', async () => {
    const { first, second } = await s.twoAttempts();
    const instance = s.startInstance();
    await instance.cache(first, second);
    expectAccepted(await s.other.challenge.reportOutcomes(reportOf(first, 100)));
    const operationId = newId();
    expect(await instance.report(second, 100, operationId)).toMatchObject({
      outcome: { metThreshold: true },
      won: null,
    });
    const receipt = await findReceipt(h.database, receiptIdOf(operationId));
    expect(JSON.parse(receipt?.receipt ?? '')).toMatchObject({ met_threshold: true, award: null });
  });

  it('a report whose operation id belongs to another attempt is refused', async () => {
    const { first, second } = await s.twoAttempts();
    const instance = s.startInstance();
    await instance.cache(first, second);
    const operationId = newId();
    expect(await instance.report(first, 1, operationId)).toMatchObject({ kind: 'recorded' });
    expect(await instance.report(second, 1, operationId)).toMatchObject({ code: 'attempt_already_settled' });
    const copied = h.database.query(
      {
        text: `
insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
select $1, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id from outcomes where attempt_id = $2`,
      },
      [second, first],
    );
    await expect(copied).rejects.toThrow('outcomes_receipt_id_key');
    expect(await instance.report(second, 1)).toMatchObject({ kind: 'recorded' });
  });

  async function change(attemptId: string, what: string, ...values: readonly string[]): Promise<void> {
    await h.database.query({ text: `update attempts set ${what} where id = $1` }, [attemptId, ...values]);
  }
});
