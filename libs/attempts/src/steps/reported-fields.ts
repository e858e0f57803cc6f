/**
 * The fields of a receipt that depend on the report alone. A report with the same fields is a
 * repeat.
 */
import { parseJson } from '@laurel/json';
import { canonicalJson, evidenceFields } from '@laurel/signature';

export type ReportedFields = {
  readonly score: number;
  /** Null if the caller sent no tiebreak. */
  readonly tiebreak: number | null;
  /** A JSON object as text, or empty. */
  readonly evidence: string;
};

/**
 * Whether the receipt's signed text states this report. A receipt without a tiebreak comes from a
 * contest that ignores tiebreaks.
 */
export function statesReport(receipt: string, { score, tiebreak, evidence }: ReportedFields): boolean {
  const stated = parseJson(receipt) as Readonly<Record<string, unknown>>;
  return (
    canonicalJson({ score, tiebreak: 'tiebreak' in stated ? tiebreak : undefined, ...evidenceFields(evidence) }) ===
    canonicalJson({
      score: stated.score,
      tiebreak: stated.tiebreak,
      evidence: stated.evidence,
      evidence_text: stated.evidence_text,
    })
  );
}
