/**
 * What a saved receipt proves: that a trusted key signed it, and, where its round is settled, that the round counted it. Offline, by
 * Ed25519 over RFC 8785 canonical JSON; the keys inside of it are ignored.
 */
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

/** Verifies `{receipt, signature, seal?}` that came as JSON. Never rejects. */
export async function verifyReceipt(answer: unknown, trusted: readonly TrustedKey[]): Promise<ReceiptVerdict> {
  const { receipt, signature, seal = null } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof receipt !== 'object' || receipt === null || Array.isArray(receipt) || typeof signature !== 'string') {
    return notValid('this is not {receipt, signature}');
  }
  const document = receipt as Readonly<Record<string, unknown>>;
  // The same keys sign seals, which carry their kind.
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
