/**
 * The evidence of a receipt: the partner's object as it was sent. JSON that has no canonical form (half of a surrogate pair, a number
 * beyond a double) is kept as its exact text in `evidence_text` instead, so that no report fails for its evidence.
 */
import { parseJson } from '@laurel/json';

/** The members of a receipt that hold it. `text` is an object as JSON text, or empty when none was sent. */
export function evidenceFields(text: string): { readonly evidence: unknown; readonly evidence_text?: string } {
  if (text === '') return { evidence: null };
  const evidence = parseJson(text);
  return hasCanonicalForm(evidence) ? { evidence } : { evidence: null, evidence_text: text };
}

/** Whether parsed JSON can be signed. The gateway bounds how deep evidence nests. */
function hasCanonicalForm(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && hasCanonicalForm(member));
}
