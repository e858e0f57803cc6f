/**
 * An operation id that is sent again: with the same report, with another score or evidence, or on
 * another attempt.
 */

import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, useHarness, verdictOf } from '../challenge.fixture.ts';
import { useSettlements } from '../commits/outcome-settlements.fixture.ts';

const h = useHarness();
const s = useSettlements(h);

type Report = { attemptId: string; operationId: string; score?: number; evidence?: string };

const itemOf = ({ attemptId, operationId, score = 99, evidence = '' }: Report) => ({
  operationId,
  attemptId,
  tenant: PROGRAM,
  score,
  evidenceJson: evidence,
  requestId: '',
  keyUse: undefined,
});

/** Reports, and returns the verdict on each report; the verdict on a repeat is `repeated`. */
async function answersTo(reports: readonly Report[], client = h.challenge): Promise<string[]> {
  const { results } = expectAccepted(await client.reportOutcomes({ reports: reports.map(itemOf) }));
  return results.map(({ result, repeated }) => (repeated ? 'repeated' : verdictOf(result)));
}

describe('a report that is sent again', () => {
  it('a repeated report gets its first outcome, marked as repeated', async () => {
    const { first, second } = await s.twoAttempts();
    const [alone, twice] = [newId(), newId()];
    const evidence = '{"b":1, "a":[2.50]}';
    expect(await answersTo([{ attemptId: first, operationId: alone, evidence }])).toEqual(['outcome']);
    expect(await answersTo([{ attemptId: first, operationId: alone, evidence }])).toEqual(['repeated']);
    const again = [{ attemptId: first, operationId: alone, evidence }];
    expect(await answersTo(again, s.other.challenge)).toEqual(['repeated']);
    const report = { attemptId: second, operationId: twice };
    expect((await answersTo([report, report])).sort()).toEqual(['outcome', 'repeated']);
  });

  it('a repeated report with another score or evidence is refused', async () => {
    const { attempt } = await h.openAttempt();
    const report = { attemptId: attempt.id, operationId: newId(), evidence: '{"run":1}' };
    expect(await answersTo([report])).toEqual(['outcome']);
    const others = [{ score: 100 }, { evidence: '' }, { evidence: '{"run":2}' }];
    for (const other of others) {
      expect(await answersTo([{ ...report, ...other }])).toEqual(['attempt_already_settled']);
    }
    expect(await answersTo([report])).toEqual(['repeated']);
  });
});

describe('an operation that has settled an attempt', () => {
  it('an operation that has settled one attempt never settles or disqualifies another attempt', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1_000, scoreMin: 0 });
    const player = await h.player();
    const [first, second] = [
      created(await h.create(challenge.id, player.ref)).id,
      created(await h.create(challenge.id, player.ref)).id,
    ];
    const operationId = newId();
    expect(await answersTo([{ attemptId: first, operationId }])).toEqual(['outcome']);
    // The first replica has cached the second attempt; the other replica has not.
    for (const client of [h.challenge, s.other.challenge]) {
      for (const score of [99, 100, -1]) {
        expect(await answersTo([{ attemptId: second, operationId, score }], client)).toEqual([
          'attempt_already_settled',
        ]);
      }
    }
    expect(await answersTo([{ attemptId: second, operationId: newId() }])).toEqual(['outcome']);
  });

  it('an operation that one call names for two attempts settles only one of the attempts', async () => {
    for (const score of [99, 100]) {
      for (const client of [h.challenge, s.other.challenge]) {
        const { first, second } = await s.twoAttempts();
        const operationId = newId();
        const reports = [first, second].map((attemptId) => ({ attemptId, operationId, score }));
        expect((await answersTo(reports, client)).sort()).toEqual(['attempt_already_settled', 'outcome']);
      }
    }
  });

  it('an operation that two replicas use for two attempts settles only one of the attempts', async () => {
    for (let round = 0; round < 10; round += 1) {
      const scenes = await Promise.all(Array.from({ length: 4 }, () => s.twoAttempts()));
      const operations = scenes.map(() => newId());
      const reportsOn = (which: 'first' | 'second') =>
        scenes.map((scene, index) => ({ attemptId: scene[which], operationId: operations[index] ?? '' }));
      const [here, there] = await Promise.all([
        answersTo(reportsOn('first')),
        // In opposite order, so that the two transactions may wait for each other.
        answersTo(reportsOn('second').reverse(), s.other.challenge),
      ]);
      const pairs = here.map((answer, index) => [answer, there.toReversed()[index]].sort());
      expect(pairs).toEqual(scenes.map(() => ['attempt_already_settled', 'outcome']));
    }
  });
});
