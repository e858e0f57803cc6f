/**
 * The evidence of a receipt: the partner's object, byte for byte as it was sent.
 *
 * - `evidence` is the object, for the receipt's readers; null where none was sent, and where a reader's double would change a number of
 *   it (a seed of 64 bits).
 * - `evidence_text` are the bytes that were sent, as text. It is left out where they are the canonical JSON of `evidence`: then the
 *   signature covers exactly these bytes.
 */
import { canonicalJson as exactJson, parseExactJson, parseJson } from '@laurel/json';
import { canonicalJson } from './signed-bytes.ts';

/** The members of a receipt that hold it. `text` is an object as JSON text, or empty when none was sent. */
export function evidenceFields(text: string): { readonly evidence: unknown; readonly evidence_text?: string } {
  if (text === '') return { evidence: null };
  const evidence = parseJson(text) as object;
  const canonical = canonicalOf(evidence);
  if (canonical === text) return { evidence };
  const isFaithful = canonical !== null && canonical === exactJson(parseExactJson(text));
  return { evidence: isFaithful ? evidence : null, evidence_text: text };
}

/** Null for what has no canonical form: half of a surrogate pair, a number beyond the range of a double. */
function canonicalOf(evidence: object): string | null {
  try {
    return canonicalJson(evidence);
  } catch {
    return null;
  }
}
