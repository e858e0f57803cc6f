import { newId, newOwnedId } from '@laurel/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operationIdOf, type ReportIdentity, reportHashOf } from './report-identity.ts';

const PROGRAMS = [newId(), newId()];
const ATTEMPTS = [newOwnedId('challenge'), newOwnedId('tournament')];

/** Few values of each part, so that two reports are often the same. */
const reports: fc.Arbitrary<ReportIdentity> = fc.record(
  {
    tenant: fc.record({ programId: fc.constantFrom(...PROGRAMS), environment: fc.constantFrom('test', 'live') }),
    attemptId: fc.constantFrom(...ATTEMPTS),
    score: fc.constantFrom(1, 12, 1.5),
    tiebreak: fc.constantFrom(0, 2, 12),
    evidenceJson: fc.constantFrom('', '{"a":1}', '{"a":1.0}', '2'),
  },
  { requiredKeys: ['tenant', 'attemptId', 'score', 'evidenceJson'] },
);

const partsOf = ({ tenant, attemptId, score, tiebreak, evidenceJson }: ReportIdentity) =>
  JSON.stringify([tenant.programId, tenant.environment, attemptId, score, tiebreak ?? null, evidenceJson]);

describe('the operation of a report', () => {
  it('two reports are one operation exactly where tenant, attempt, score, tiebreak and evidence are the same', () => {
    fc.assert(
      fc.property(reports, reports, (one, other) => {
        expect(operationIdOf(one) === operationIdOf(other)).toBe(partsOf(one) === partsOf(other));
      }),
      { numRuns: 2_000 },
    );
  });

  it('the id of an operation begins with the time of its attempt', () => {
    const report = { tenant: { programId: newId(), environment: 'live' }, score: 1, evidenceJson: '' } as const;
    for (const attemptId of ATTEMPTS)
      expect(operationIdOf({ ...report, attemptId }).slice(0, 13)).toBe(attemptId.slice(0, 13));
  });
});

it('a dedupe value is another for each integration', () => {
  const [one, other] = [newId(), newId()];
  expect(reportHashOf(one, 'x')).toEqual(reportHashOf(one, 'x'));
  expect(reportHashOf(one, 'x')).toHaveLength(32);
  expect(reportHashOf(one, 'x')).not.toEqual(reportHashOf(other, 'x'));
  expect(reportHashOf(one, 'x')).not.toEqual(reportHashOf(one, 'y'));
});
