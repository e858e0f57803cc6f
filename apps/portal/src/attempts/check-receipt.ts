/**
 * Checks a receipt in the browser by the code of `laurel verify-receipt`, and says what it checked.
 */
import { listedKeys, type TrustedKey, verifyReceipt } from '@laurel/sdk';
import { capitalised, formatCount, utcTime } from '../kit/format.ts';

export interface Check {
  readonly title: string;
  readonly detail: string;
  readonly hasPassed: boolean;
}

export type ReceiptCheck =
  | { readonly kind: 'checked'; readonly isValid: boolean; readonly checks: readonly Check[] }
  /** Nothing was checked; the reason is a sentence for a person. */
  | { readonly kind: 'not_checked'; readonly reason: string };

interface Source {
  /** The answer of the receipt's route, unchanged. */
  readonly receipt: string;
  readonly attemptId: string;
  /** Reads the list of keys that Laurel publishes; null if it cannot be read. */
  readonly readKeys: () => Promise<string | null>;
  /** The browser's WebCrypto; undefined where it has none. */
  readonly subtle: SubtleCrypto | undefined;
}

export async function checkReceipt({ receipt, attemptId, readKeys, subtle }: Source): Promise<ReceiptCheck> {
  const missing = await missingOf(subtle);
  if (missing !== null) return { kind: 'not_checked', reason: missing };
  const list = await readKeys();
  const keys = list === null ? null : await listedKeys(list);
  if (keys === null) return { kind: 'not_checked', reason: 'The published keys could not be read.' };
  const verdict = await verifyReceipt(receipt, keys);
  const published: Check = {
    title: 'Published keys',
    detail: `${formatCount(keys.length)} read from /.well-known/laurel-keys.json; the key inside the receipt proves nothing`,
    hasPassed: true,
  };
  if (verdict.kind === 'not_valid') {
    const failed = { title: 'Signature', detail: capitalised(verdict.reason), hasPassed: false };
    return { kind: 'checked', isValid: false, checks: [published, failed] };
  }
  const isOfAttempt = verdict.receipt.attempt_id === attemptId;
  const checks: readonly Check[] = [
    published,
    {
      title: 'Signature',
      detail: 'The receipt is exactly what the key signed: Ed25519 over its canonical JSON (RFC 8785)',
      hasPassed: true,
    },
    { title: 'Key', detail: keyWords(verdict.key), hasPassed: true },
    {
      title: 'Attempt',
      detail: isOfAttempt ? 'The receipt names this attempt' : 'The receipt names another attempt',
      hasPassed: isOfAttempt,
    },
    ...(verdict.counted === null ? [] : sealChecks(verdict.counted)),
  ];
  return { kind: 'checked', isValid: checks.every(({ hasPassed }) => hasPassed), checks };
}

type Counted = Extract<Awaited<ReturnType<typeof verifyReceipt>>, { kind: 'valid' }>['counted'];

function sealChecks({ seal, key }: NonNullable<Counted>): readonly Check[] {
  const { statement, leaf, leaf_index: index } = seal;
  const result = `rank ${leaf.final_rank}, payout ${leaf.payout_amount}`;
  return [
    {
      title: 'Seal of the round',
      detail: `Leaf ${formatCount(index + 1)} of ${formatCount(statement.leaves)} is below the signed root (Merkle tree of RFC 6962)`,
      hasPassed: true,
    },
    { title: 'Key of the seal', detail: keyWords(key), hasPassed: true },
    {
      title: 'Counted',
      detail: `Round ${formatCount(statement.round_number)} counted it${leaf.best ? `: ${result}` : `; a better run gave its player ${result}`}`,
      hasPassed: true,
    },
  ];
}

function keyWords({ keyId, period }: TrustedKey): string {
  if (period === null) return keyId;
  const until = period.until === null ? 'still in use' : `in use until ${utcTime(period.until.toISOString())}`;
  return `${keyId}, in use from ${utcTime(period.from.toISOString())}, ${until}`;
}

/**
 * Null if the browser can check signatures. Without this test, a valid receipt would seem forged.
 */
async function missingOf(subtle: SubtleCrypto | undefined): Promise<string | null> {
  if (subtle === undefined) return 'This page did not come over https, so the browser offers no WebCrypto.';
  try {
    await subtle.generateKey('Ed25519', false, ['sign', 'verify']);
    return null;
  } catch {
    return 'This browser cannot check Ed25519 signatures.';
  }
}
