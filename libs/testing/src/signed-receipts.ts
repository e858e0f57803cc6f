/** Verifies receipts and seals like a partner, with the SDK: the services only sign. */
import { parseJson } from '@laurel/json';
import { pinnedKey, type ReceiptVerdict, verifyReceipt } from '@laurel/sdk';
import { canonicalJson } from '@laurel/signature';

export interface SignedReceipt {
  /** The signed text, byte for byte. */
  readonly canonical: string;
  readonly signature: Uint8Array;
  /** SPKI DER of the key that must have signed the receipt and, if there is one, the seal. */
  readonly publicKey: Uint8Array;
  /** The seal is JSON; null until the round is settled. */
  readonly seal?: unknown;
}

/** Throws if the receipt's text is not canonical JSON, because then it is not the signed text. */
export async function verdictOnReceipt(signed: SignedReceipt): Promise<ReceiptVerdict> {
  const { canonical, signature, publicKey, seal = null } = signed;
  const receipt = parseJson(canonical);
  if (canonicalJson({ receipt }) !== `{"receipt":${canonical}}`) throw new Error(`not canonical JSON: ${canonical}`);
  const key = await pinnedKey(base64(publicKey));
  return await verifyReceipt({ receipt, signature: base64(signature), seal }, key === null ? [] : [key]);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
