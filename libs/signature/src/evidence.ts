/**
 * The evidence in a receipt: the partner's object, byte for byte as sent.
 *
 * - `evidence` is the object, for readers of the receipt. It is null if none was sent, or if a
 *   double cannot hold one of its numbers, such as a 64-bit seed.
 * - `evidence_text` is the text that was sent. It is omitted if it is the canonical JSON of
 *   `evidence`, because the signature then covers exactly these bytes.
 */
import { canonicalJson as exactJson, parseExactJson, parseJson } from '@laurel/json';
import { canonicalJson } from './signed-bytes.ts';

/**
 * The evidence members of a receipt. `text` is an object as JSON text, or empty if none was sent.
 */
export function evidenceFields(text: string): { readonly evidence: unknown; readonly evidence_text?: string } {
  if (text === '') return { evidence: null };
  const evidence = parseJson(text) as object;
  const canonical = canonicalOf(evidence);
  if (canonical === text) return { evidence };
  const isFaithful = canonical !== null && canonical === exactJson(parseExactJson(text));
  return { evidence: isFaithful ? evidence : null, evidence_text: text };
}

/**
 * Returns the canonical form. Null if there is none, because the evidence contains half of a
 * surrogate pair or a number beyond the range of a double.
 */
function canonicalOf(evidence: object): string | null {
  try {
    return canonicalJson(evidence);
  } catch {
    return null;
  }
}
