/** Outcomes that are decided on a memory of their attempts: recorded where it still holds, and decided anew where it does not. */
import { connectEvents, createOutbox, type EventStream, type Outbox } from '@laurel/events';
import { newId, receiptIdOf } from '@laurel/ids';
import { createAttemptOpener, putSigningKey } from '@laurel/money-path';
import type { Tenant } from '@laurel/money-path/domain';
import type { Database } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import { createLogger } from '@laurel/service';
import { createSigner, verifySignature } from '@laurel/signature';
import { ok } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { created, type Harness, HOUR_MS, PROGRAM, useHarness, verdictOf } from '../challenge.fixture.ts';
import { createAttemptMemory } from '../domain/attempt-memory.ts';
import { findAttempt } from '../repository/attempts.ts';
import { findChallenge } from '../repository/challenges.ts';
import { findReceipt } from '../repository/outcomes.ts';
import { createOutcomeSettlements } from './report-outcomes.ts';

const h = useHarness();
const signer = createSigner(Buffer.alloc(32, 9));
const logger = createLogger({ service: 'challenge', level: 'silent' });
const tenant: Tenant = { programId: PROGRAM.programId, environment: 'test' };
let other: Awaited<ReturnType<Harness['startReplica']>>;
let signingKeyId: number;
let stream: EventStream;
beforeAll(async () => {
  other = await h.startReplica();
  // Nothing listens there: what is told lies in the outbox.
  stream = connectEvents({ url: 'nats://127.0.0.1:1', prefix: h.eventsPrefix, name: 'challenge-test', logger });
  signingKeyId = await putSigningKey(h.database, signer.publicKey);
});
afterAll(async () => {
  // What was won here is paid and told by the service.
  h.clock.advance(2_000);
  await h.server.sweepOnce();
  await stream[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

/** The commit of outcomes as one process makes it, with what it remembers and how often it had to lock. */
function startInstance() {
  const attempts = createAttemptMemory();
  const published: Event[] = [];
  let transactions = 0;
  const database: Database = {
    ...h.database,
    transaction(work, options) {
      transactions += 1;
      return h.database.transaction(work, options);
    },
  };
  const outbox: Outbox = {
    ...createOutbox({ owner: 'challenge', database: h.database, stream, logger }),
    publish: (events) => published.push(...events),
  };
  const opener = createAttemptOpener({ owner: 'challenge', database, logger });
  const settlements = createOutcomeSettlements({
    database,
    signer,
    signingKeyId,
    attempts,
    opener,
    outbox,
    attemptTtlMs: HOUR_MS,
    clock: h.clock,
  });
  return {
    published,
    get transactions() {
      return transactions;
    },
    async remember(...attemptIds: readonly string[]) {
      // The service that created them has written that they are open.
      await h.server.sweepOnce();
      for (const id of attemptIds) {
        const found = await findAttempt(h.database, id);
        const challenge = found === null ? null : await findChallenge(h.database, found.attempt.challengeId);
        if (found === null || challenge === null) throw new Error(`there is no attempt ${id}`);
        attempts.rememberTerms(challenge);
        attempts.remember(found.attempt);
      }
    },
    report: (attemptId: string, score: number, operationId = newId()) =>
      settlements.submit({ operationId, attemptId, tenant, score, evidence: '{"replay":"x"}' }),
  };
}

async function traceOf(attemptId: string) {
  const [row] = await h.database.query<object>(
    {
      text: `
        select a.status, a.account_id, a.fee_generation, a.spoiled_at, o.receipt_id, w.id as award_id
        from attempts a left join outcomes o on o.attempt_id = a.id left join awards w on w.attempt_id = a.id
        where a.id = $1`,
    },
    [attemptId],
  );
  return { ...row, events: (await h.eventsOf(attemptId)).length };
}

async function twoAttempts() {
  const challenge = await h.open({ dailyAttemptCap: 1_000 });
  const player = await h.player();
  const first = created(await h.create(challenge.id, player.ref));
  const second = created(await h.create(challenge.id, player.ref));
  return { challenge, player, first: first.id, second: second.id };
}

describe('an outcome of an attempt that is as it is remembered', () => {
  it('is recorded without reading the attempt, with its award, its event and a receipt that verifies', async () => {
    const { first, second } = await twoAttempts();
    const instance = startInstance();
    await instance.remember(first, second);
    const operations = [newId(), newId()] as const;
    const [lost, won] = await Promise.all([
      instance.report(first, 99, operations[0]),
      instance.report(second, 100, operations[1]),
    ]);
    expect(instance.transactions).toBe(0);
    expect(lost).toMatchObject({ kind: 'recorded', outcome: { metThreshold: false }, award: null });
    expect(won).toMatchObject({ kind: 'recorded', outcome: { metThreshold: true } });
    const award = won.kind === 'recorded' ? won.award : null;
    expect(award).toMatchObject({ award: { attemptId: second, amountCents: 2_000n, status: 'paying' }, tenant });

    expect(await traceOf(first)).toMatchObject({ status: 'settled', award_id: null, events: 1 });
    // The wallet's word on the award completes what is told of it.
    expect(await traceOf(second)).toMatchObject({ status: 'settled', award_id: award?.award.id, events: 0 });
    expect(instance.published.map(({ payload }) => payload)).toMatchObject([{ value: { attemptId: first } }]);
    for (const [index, awarded] of [null, { id: award?.award.id, amount: '20.00' }].entries()) {
      const receipt = await findReceipt(h.database, receiptIdOf(operations[index] ?? ''));
      if (receipt === null) throw new Error('no receipt');
      expect(verifySignature({ canonical: receipt.receipt, ...receipt })).toBe(true);
      expect(JSON.parse(receipt.receipt)).toMatchObject({ award: awarded, evidence: { replay: 'x' } });
    }
  });

  it('is recorded while the attempt still says pending, because its fee is known to be posted', async () => {
    const { attempt } = await h.openAttempt();
    const instance = startInstance();
    await instance.remember(attempt.id);
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attempt.id]);
    expect(await instance.report(attempt.id, 1)).toMatchObject({ kind: 'recorded' });
    expect(instance.transactions).toBe(0);
  });

  it('is the first of those that come together, and the others come too late', async () => {
    const { first } = await twoAttempts();
    const instance = startInstance();
    await instance.remember(first);
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

describe('a memory that does not hold any more', () => {
  const LEARNT_SINCE: Readonly<
    Record<string, { since: (attemptId: string) => Promise<unknown>; answer: object; after?: string }>
  > = {
    'was settled': {
      since: (id) => other.challenge.reportOutcomes(reportOf(id, 7)),
      answer: { kind: 'settled_before' },
    },
    'was expired': {
      since: (attemptId) => other.challenge.expireAttempt({ tenant: PROGRAM, attemptId }),
      answer: { code: 'attempt_already_settled' },
    },
    'was voided': {
      since: (attemptId) => other.challenge.voidAttempt({ attemptId, reason: 'a test' }),
      answer: { code: 'attempt_already_settled' },
    },
    'was spoiled': {
      since: (id) => other.challenge.reportOutcomes(reportOf(id, -1)),
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

  it.each(Object.entries(LEARNT_SINCE))(
    'of an attempt that %s records nothing, and the row decides',
    async (_, learnt) => {
      const { attempt, player } = await h.openAttempt({ scoreMin: 0 });
      const instance = startInstance();
      await instance.remember(attempt.id);
      await learnt.since(attempt.id);
      const before = await traceOf(attempt.id);
      expect(await instance.report(attempt.id, 100)).toMatchObject(learnt.answer);
      expect(await traceOf(attempt.id)).toEqual(before);
      expect(instance.published).toEqual([]);
      expect(instance.transactions).toBe(1);
      if (learnt.after !== undefined) await change(attempt.id, learnt.after, player.accountId);
    },
  );

  it('of an attempt whose hour has passed is not tried', async () => {
    const { attempt } = await h.openAttempt();
    const instance = startInstance();
    await instance.remember(attempt.id);
    h.clock.advance(HOUR_MS);
    expect(await instance.report(attempt.id, 100)).toMatchObject({ kind: 'due' });
    await h.server.sweepOnce();
  });

  it('of a prize that was taken leaves the outcome, without the award', async () => {
    const { first, second } = await twoAttempts();
    const instance = startInstance();
    await instance.remember(first, second);
    ok(await other.challenge.reportOutcomes(reportOf(first, 100)));
    const operationId = newId();
    expect(await instance.report(second, 100, operationId)).toMatchObject({
      outcome: { metThreshold: true },
      award: null,
    });
    const receipt = await findReceipt(h.database, receiptIdOf(operationId));
    expect(JSON.parse(receipt?.receipt ?? '')).toMatchObject({ met_threshold: true, award: null });
  });

  it('fails an operation that was another attempt’s, and leaves its attempt open', async () => {
    const { first, second } = await twoAttempts();
    const instance = startInstance();
    await instance.remember(first, second);
    const operationId = newId();
    expect(await instance.report(first, 1, operationId)).toMatchObject({ kind: 'recorded' });
    await expect(instance.report(second, 1, operationId)).rejects.toThrow('outcomes_receipt_id_key');
    expect(await instance.report(second, 1)).toMatchObject({ kind: 'recorded' });
  });

  async function change(attemptId: string, what: string, ...values: readonly string[]): Promise<void> {
    await h.database.query({ text: `update attempts set ${what} where id = $1` }, [attemptId, ...values]);
  }
});

describe('two replicas', () => {
  it('record one outcome of 200 that are reported on one attempt at once', async () => {
    const { first } = await twoAttempts();
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) =>
        ok(await (index % 2 === 0 ? h : other).challenge.reportOutcomes(reportOf(first, index))),
      ),
    );
    const verdicts = answers.map(({ results }) => verdictOf(results[0]?.result));
    expect(verdicts.filter((verdict) => verdict === 'outcome')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'attempt_already_settled')).toHaveLength(199);
  });

  it('give a prize once when an account wins it at both at once, each by what it remembers', async () => {
    const scenes = await Promise.all(Array.from({ length: 10 }, () => twoAttempts()));
    const [here, there] = [startInstance(), startInstance()];
    for (const { first, second } of scenes) {
      await here.remember(first);
      await there.remember(second);
    }
    const answers = await Promise.all(
      scenes.map(({ first, second }) => Promise.all([here.report(first, 100), there.report(second, 100)])),
    );
    for (const pair of answers) {
      expect(pair).toMatchObject([{ outcome: { metThreshold: true } }, { outcome: { metThreshold: true } }]);
      expect(pair.filter((answer) => answer.kind === 'recorded' && answer.award !== null)).toHaveLength(1);
    }
  });
});

function reportOf(attemptId: string, score: number) {
  const report = { operationId: newId(), attemptId, tenant: PROGRAM, score, evidenceJson: '', requestId: '' };
  return { reports: [report] };
}
