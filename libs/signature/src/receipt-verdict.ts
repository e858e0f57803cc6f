/**
 * What a saved answer of `GET /api/operator/receipts/{id}` proves: that a trusted key signed the receipt, and, where its round is settled,
 * that the round counted it. The keys inside the answer are ignored. The SDK has the same rule without a dependency
 * (libs/sdk/src/receipts), which its laws hold to this one.
 */
import { type SealProof, verifySeal } from './round-seal.ts';
import { canonicalJson } from './signed-bytes.ts';
import { findSigningKey, type TrustedKey } from './trusted-keys.ts';

export type ReceiptVerdict =
  | {
      readonly kind: 'valid';
      readonly receipt: Readonly<Record<string, unknown>>;
      readonly key: TrustedKey;
      /** How the round counted it; null for a receipt without a seal. */
      readonly counted: { readonly seal: SealProof; readonly key: TrustedKey } | null;
    }
  /** A clause for a person. */
  | { readonly kind: 'not_valid'; readonly reason: string };

/** Verifies an answer that came as JSON. Never throws. */
export function verifyReceipt(answer: unknown, trusted: readonly TrustedKey[]): ReceiptVerdict {
  const { receipt, signature, seal = null } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof receipt !== 'object' || receipt === null || Array.isArray(receipt) || typeof signature !== 'string') {
    return notValid('this is not {receipt, signature}');
  }
  const document = receipt as Readonly<Record<string, unknown>>;
  // The same keys sign seals, which carry their kind.
  if ('kind' in document) return notValid('what was signed is not a receipt');
  const canonical = canonicalOf(document);
  if (canonical === null) return notValid('the receipt has no canonical JSON');

  const signed = { document, canonical, signature: Buffer.from(signature, 'base64'), datedBy: 'recorded_at' };
  const verdict = findSigningKey(signed, trusted);
  if (verdict.kind === 'not_signed') return notValid(`the receipt ${verdict.reason}`);
  if (seal === null) return { kind: 'valid', receipt: document, key: verdict.key, counted: null };

  const counted = verifySeal(canonical, seal, trusted);
  if (counted.kind === 'not_counted') return notValid(`the receipt is genuine, but ${counted.reason}`);
  return { kind: 'valid', receipt: document, key: verdict.key, counted };
}

/** Null for what could never have been signed, for example a text with half a surrogate pair. */
function canonicalOf(receipt: object): string | null {
  try {
    return canonicalJson(receipt);
  } catch {
    return null;
  }
}

function notValid(reason: string): ReceiptVerdict {
  return { kind: 'not_valid', reason };
}
