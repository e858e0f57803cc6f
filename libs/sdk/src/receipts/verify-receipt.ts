/**
 * What a saved receipt proves: that a trusted key signed it and, once its round is settled, that
 * the round counted it. Works offline, by Ed25519 over RFC 8785 canonical JSON; ignores the keys
 * inside the receipt.
 */
import { parseIfJson } from '../strict-json.ts';
import { canonicalJson } from './canonical-json.ts';
import { type RoundSeal, verifySeal } from './round-seal.ts';
import { findSigningKey, type TrustedKey } from './trusted-keys.ts';

export type ReceiptVerdict =
  | {
      readonly kind: 'valid';
      readonly receipt: Readonly<Record<string, unknown>>;
      readonly key: TrustedKey;
      /** How the round counted it; null for a receipt without a seal. */
      readonly counted: { readonly seal: RoundSeal; readonly key: TrustedKey } | null;
    }
  /** A clause for a person. */
  | { readonly kind: 'not_valid'; readonly reason: string };

/**
 * Verifies `{receipt, signature, seal?}`. Pass the text or the bytes of its JSON: `JSON.parse`
 * would hide a repeated member, and digits that a double does not keep. Rejects with a TypeError if
 * `trusted` is not a list of keys; never because of the receipt.
 */
export async function verifyReceipt(answer: unknown, trusted: readonly TrustedKey[]): Promise<ReceiptVerdict> {
  if (!Array.isArray(trusted)) throw new TypeError('the trusted keys are not a list');
  let parsed: unknown;
  try {
    parsed = parseIfJson(answer);
  } catch (error) {
    return notValid(`the JSON ${(error as Error).message}`);
  }
  const { receipt, signature, seal = null } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof receipt !== 'object' || receipt === null || Array.isArray(receipt) || typeof signature !== 'string') {
    return notValid('this is not {receipt, signature}');
  }
  const document = receipt as Readonly<Record<string, unknown>>;
  // The same keys also sign seals. A seal has a member `kind`, and a receipt has none.
  if ('kind' in document) return notValid('what was signed is not a receipt');
  const canonical = canonicalJson(document);
  if (canonical === null) return notValid('the receipt has no canonical JSON');

  const verdict = await findSigningKey({ document, canonical, signature, datedBy: 'recorded_at' }, trusted);
  if (verdict.kind === 'not_signed') return notValid(`the receipt ${verdict.reason}`);
  if (seal === null) return { kind: 'valid', receipt: document, key: verdict.key, counted: null };

  const counted = await verifySeal(canonical, seal, trusted);
  if (counted.kind === 'not_counted') return notValid(`the receipt is genuine, but ${counted.reason}`);
  return { kind: 'valid', receipt: document, key: verdict.key, counted };
}

function notValid(reason: string): ReceiptVerdict {
  return { kind: 'not_valid', reason };
}
