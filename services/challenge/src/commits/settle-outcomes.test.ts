/**
 * The commit of outcomes, on the cache and under lock. Both decide in the same way, and replicas
 * that race record each outcome and award once.
 */

import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';
import type { Settlement } from './outcome-draft.ts';
import { type Instance, reportOf, useSettlements } from './outcome-settlements.fixture.ts';

const h = useHarness();
const s = useSettlements(h);

describe('two replicas', () => {
  it('two replicas record only one of 200 concurrent outcomes of one attempt', async () => {
    const { first } = await s.twoAttempts();
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) =>
        expectAccepted(await (index % 2 === 0 ? h : s.other).challenge.reportOutcomes(reportOf(first, index))),
      ),
    );
    const verdicts = answers.map(({ results }) => verdictOf(results[0]?.result));
    expect(verdicts.filter((verdict) => verdict === 'outcome')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'attempt_already_settled')).toHaveLength(199);
    const { attempt } = expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: first }));
    const settled = recorded(answers.find((_, index) => verdicts[index] === 'outcome')?.results[0]?.result);
    expect(attempt?.outcome).toMatchObject({ receiptId: settled.receiptId, score: settled.score });
  });

  it('two replicas award a prize once, even if an account wins it on both at the same time', async () => {
    const scenes = await Promise.all(Array.from({ length: 10 }, () => s.twoAttempts()));
    const [here, there] = [s.startInstance(), s.startInstance()];
    for (const { first, second } of scenes) {
      await here.cache(first);
      await there.cache(second);
    }
    const answers = await Promise.all(
      scenes.map(({ first, second }) => Promise.all([here.report(first, 100), there.report(second, 100)])),
    );
    for (const pair of answers) {
      expect(pair).toMatchObject([{ outcome: { metThreshold: true } }, { outcome: { metThreshold: true } }]);
      expect(pair.filter((answer) => answer.kind === 'recorded' && answer.won !== null)).toHaveLength(1);
    }
  });
});

describe('an instance that has cached its attempts', () => {
  const ATTEMPTS = 3;
  /** Scores that lose, win, or are outside the plausible window. An operation may be repeated. */
  const reports = fc.array(
    fc.record({
      attempt: fc.nat(ATTEMPTS - 1),
      score: fc.constantFrom(99, 100, 150, -1),
      operation: fc.nat(2),
    }),
    { minLength: 1, maxLength: 6 },
  );
  const batches = fc.array(reports, { minLength: 1, maxLength: 3 });

  /**
   * Reports the batches, each with concurrent reports. Returns the results and the recorded rows,
   * with ids replaced by their index.
   */
  async function play(
    script: readonly (readonly { attempt: number; score: number; operation: number }[])[],
    isCaching: boolean,
  ) {
    const challenge = await h.open({ scoreMin: 0, dailyAttemptCap: 1_000 });
    const player = await h.player();
    const ids: string[] = [];
    while (ids.length < ATTEMPTS) ids.push(created(await h.create(challenge.id, player.ref)).id);
    const instance: Instance = s.startInstance();
    if (isCaching) await instance.cache(...ids);
    else await h.server.sweepOnce();

    // An operation id belongs to one attempt.
    const operations = ids.map(() => Array.from({ length: 3 }, () => newId()));
    const answers: string[] = [];
    for (const batch of script) {
      const settled = await Promise.all(
        batch.map(({ attempt, score, operation }) =>
          instance.report(ids[attempt] ?? '', score, operations[attempt]?.[operation]),
        ),
      );
      answers.push(...settled.map(describeSettlement));
    }
    const recorded = await Promise.all(ids.map((id) => h.database.query(RECORDED, [id])));
    return { answers, recorded, events: instance.published.length, transactions: instance.transactions };
  }

  const RECORDED = {
    text: `
      select a.status, a.disqualified_at is not null as is_disqualified, o.score, o.met_threshold, w.amount_cents
      from attempts a left join outcomes o on o.attempt_id = a.id left join awards w on w.attempt_id = a.id where a.id = $1`,
  };

  function describeSettlement(settlement: Settlement): string {
    if (settlement.kind === 'refused') return settlement.code;
    if (settlement.kind !== 'recorded') return settlement.kind;
    const { outcome, won } = settlement;
    return `${outcome.score} ${outcome.metThreshold ? 'met' : 'missed'}, ${won?.award.amountCents ?? 'no award'}`;
  }

  it('an instance with a cache settles every batch like an instance that decides under lock', async () => {
    let saved = 0;
    await fc.assert(
      fc.asyncProperty(batches, async (script) => {
        const { transactions: ofCaching, ...caching } = await play(script, true);
        const { transactions: ofLocking, ...locking } = await play(script, false);
        expect(caching).toEqual(locking);
        expect(ofCaching).toBeLessThanOrEqual(ofLocking);
        saved += ofLocking - ofCaching;
      }),
      // The example makes sure that some run saves a transaction: a single report on a cached
      // attempt always does.
      { numRuns: 12, examples: [[[[{ attempt: 0, score: 99, operation: 0 }]]]] },
    );
    expect(saved).toBeGreaterThan(0);
  });
});
