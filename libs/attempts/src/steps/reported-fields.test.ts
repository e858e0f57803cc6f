import { canonicalJson, evidenceFields } from '@laurel/signature';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReportedFields, statesReport } from './reported-fields.ts';

const aNumber = fc.double({ noNaN: true, noDefaultInfinity: true });
const evidence = fc.oneof(
  fc.constant(''),
  fc.constantFrom('{"a":1}', '{ "a": 1 }', '{"a":1.0}', '{"a":1e400}', '{"a":"\\ud800"}', '{"__proto__":1}'),
  fc.dictionary(fc.string(), fc.jsonValue()).map((object) => JSON.stringify(object)),
);
const reports: fc.Arbitrary<ReportedFields> = fc.record({ score: aNumber, evidence, tiebreak: fc.option(aNumber) });

/** The signed text of a receipt of this report. A challenge's receipt has no tiebreak. */
function receiptOf({
  score,
  tiebreak,
  evidence: text,
}: Omit<ReportedFields, 'tiebreak'> & { tiebreak?: number | null }) {
  return canonicalJson({ receipt_id: 'r', score, tiebreak, ...evidenceFields(text), key_id: 'k' });
}

describe('a receipt', () => {
  it('a receipt states the report for which it was signed', () => {
    fc.assert(fc.property(reports, (report) => statesReport(receiptOf(report), report)));
  });

  it('a receipt without a tiebreak matches its report, whatever tiebreak the report had', () => {
    const property = fc.property(reports, (report) => {
      const { tiebreak: _, ...signed } = report;
      return statesReport(receiptOf(signed), report);
    });
    fc.assert(property);
  });

  it('a receipt does not match a report with another score, tiebreak or evidence', () => {
    const report = { score: 1, tiebreak: 2, evidence: '{"a":1}' };
    const receipt = receiptOf(report);
    expect(statesReport(receipt, report)).toBe(true);
    for (const other of [
      { score: 2 },
      { tiebreak: 1 },
      { tiebreak: null },
      { evidence: '' },
      { evidence: '{}' },
      { evidence: '{"a":2}' },
      { evidence: '{"a": 1}' },
    ]) {
      expect(statesReport(receipt, { ...report, ...other })).toBe(false);
    }
  });
});
