/** ReportOutcomes at two replicas: the results of concurrent reports on the same attempt. */

import { countsOf, expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { PROGRAM, recorded, useHarness, useReplica, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();
const other = useReplica(h);

describe('two reports on one attempt', () => {
  it('only one of 40 concurrent reports settles the attempt', async () => {
    const { attempt } = await h.openAttempt();
    const results = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const client = index % 2 === 0 ? h.challenge : other.challenge;
        const report = {
          operationId: newId(),
          attemptId: attempt.id,
          tenant: PROGRAM,
          score: index,
          evidenceJson: '',
          requestId: '',
          keyUse: undefined,
        };
        return expectAccepted(await client.reportOutcomes({ reports: [report] })).results[0]?.result;
      }),
    );
    expect(countsOf(results.map(verdictOf))).toEqual({ outcome: 1, attempt_already_settled: 39 });
  });

  it('two reports of one operation on an attempt record one outcome', async () => {
    const { player, attempt } = await h.openAttempt();
    const operationId = newId();
    const report = {
      operationId,
      attemptId: attempt.id,
      tenant: PROGRAM,
      score: 100,
      evidenceJson: '',
      requestId: '',
      keyUse: undefined,
    };
    const answers = await Promise.all(
      [h.challenge, other.challenge, h.challenge].map((client) => client.reportOutcomes({ reports: [report, report] })),
    );
    const outcomes = answers.flatMap((answer) => expectAccepted(answer).results.map(({ result }) => recorded(result)));
    expect(outcomes).toHaveLength(6);
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n + 2_000n);
  });
});

describe('the reports of one call', () => {
  it('the reports of one call get independent results in the order of the call', async () => {
    const [won, lost] = [await h.openAttempt({ scoreMin: 0 }), await h.openAttempt({ scoreMin: 0 })];
    const reportOf = (attemptId: string, score: number) => ({
      operationId: newId(),
      attemptId,
      tenant: PROGRAM,
      score,
      evidenceJson: '',
      requestId: '',
      keyUse: undefined,
    });
    const reports = [
      reportOf(lost.attempt.id, -1),
      reportOf(won.attempt.id, 100),
      reportOf(newId(), 100),
      reportOf(lost.attempt.id, 100),
      reportOf(won.attempt.id, 101),
    ];
    const { results } = expectAccepted(await h.challenge.reportOutcomes({ reports }));
    expect(results.map(({ result }) => verdictOf(result))).toEqual([
      'score_out_of_range',
      'outcome',
      'not_found',
      'score_out_of_range',
      'attempt_already_settled',
    ]);
    expect(await h.balance(won.player.accountId)).toBe(100_000n - 100n + 2_000n);
  });
});
