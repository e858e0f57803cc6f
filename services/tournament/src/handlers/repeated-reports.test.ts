/**
 * A repeated operation id: with the same report, with another score, tiebreak or evidence, or on
 * another attempt.
 */

import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, useHarness, useReplica, verdictOf } from '../tournament.fixture.ts';

const h = useHarness();
const other = useReplica(h);

type Report = { attemptId: string; operationId: string; score?: number; tiebreak?: number; evidence?: string };

const itemOf = ({ attemptId, operationId, score = 7, tiebreak, evidence = '' }: Report) => ({
  operationId,
  attemptId,
  tenant: PROGRAM,
  score,
  tiebreak,
  evidenceJson: evidence,
  requestId: '',
  keyUse: undefined,
});

/** The verdict of each report; `repeated` for a report that repeats an outcome. */
async function verdictsOf(reports: readonly Report[], client = h.tournament): Promise<string[]> {
  const { results } = expectAccepted(await client.reportOutcomes({ reports: reports.map(itemOf) }));
  return results.map(({ result, repeated }) => (repeated ? 'repeated' : verdictOf(result)));
}

/** Two open attempts of one player in one round. */
async function twoAttempts() {
  const { round, player, attempt } = await h.openAttempt({ attemptCap: 10 });
  return { first: attempt.id, second: created(await h.create(round.id, player.ref)).id };
}

describe('a report that is sent again', () => {
  it('a repeated report gets its first outcome, marked as repeated', async () => {
    const { first, second } = await twoAttempts();
    const report = { attemptId: first, operationId: newId(), score: -0, tiebreak: 3, evidence: '{"b":1, "a":[2.50]}' };
    expect(await verdictsOf([report])).toEqual(['outcome']);
    expect(await verdictsOf([report])).toEqual(['repeated']);
    expect(await verdictsOf([report], other.tournament)).toEqual(['repeated']);
    const twice = { attemptId: second, operationId: newId() };
    expect((await verdictsOf([twice, twice])).sort()).toEqual(['outcome', 'repeated']);
  });

  it('a repeated report with another score, tiebreak or evidence is refused', async () => {
    const { attempt } = await h.openAttempt();
    // The tournament declares no tiebreak, so the receipt states the reported one but the board
    // ignores it.
    const report = { attemptId: attempt.id, operationId: newId(), tiebreak: 3, evidence: '{"run":1}' };
    expect(await verdictsOf([report])).toEqual(['outcome']);
    for (const changed of [{ score: 8 }, { tiebreak: 4 }, { evidence: '' }, { evidence: '{"run":2}' }]) {
      expect(await verdictsOf([{ ...report, ...changed }])).toEqual(['attempt_already_settled']);
    }
    expect(await verdictsOf([report])).toEqual(['repeated']);
  });
});

describe('an operation that has settled an attempt', () => {
  it('an operation that has settled one attempt never settles another attempt', async () => {
    const { first, second } = await twoAttempts();
    const operationId = newId();
    expect(await verdictsOf([{ attemptId: first, operationId }])).toEqual(['outcome']);
    for (const client of [h.tournament, other.tournament]) {
      expect(await verdictsOf([{ attemptId: second, operationId }], client)).toEqual(['attempt_already_settled']);
    }
    expect(await verdictsOf([{ attemptId: second, operationId: newId() }])).toEqual(['outcome']);
  });

  it('an operation that one call names for two attempts settles only one of the attempts', async () => {
    const { first, second } = await twoAttempts();
    const operationId = newId();
    const reports = [first, second].map((attemptId) => ({ attemptId, operationId }));
    expect((await verdictsOf(reports)).sort()).toEqual(['attempt_already_settled', 'outcome']);
  });

  it('an operation that two replicas use for two attempts settles only one of the attempts', async () => {
    for (let run = 0; run < 10; run += 1) {
      const scenes = await Promise.all(Array.from({ length: 4 }, () => twoAttempts()));
      const operations = scenes.map(() => newId());
      const reportsOn = (which: 'first' | 'second') =>
        scenes.map((scene, index) => ({ attemptId: scene[which], operationId: operations[index] ?? '' }));
      const [here, there] = await Promise.all([
        verdictsOf(reportsOn('first')),
        // The order is opposite, so that the two transactions may wait for each other.
        verdictsOf(reportsOn('second').reverse(), other.tournament),
      ]);
      const pairs = here.map((answer, index) => [answer, there.toReversed()[index]].sort());
      expect(pairs).toEqual(scenes.map(() => ['attempt_already_settled', 'outcome']));
    }
  });
});
