import type { GetReceiptResponse as ChallengeReceipt } from '@laurel/proto/challenge';
import type { GetReceiptResponse as RoundReceipt, SealProof } from '@laurel/proto/tournament';

/**
 * A receipt as JSON text: signed or hashed text is sent unchanged, not parsed and serialised again.
 */
export function presentReceipt(receipt: ChallengeReceipt | RoundReceipt): string {
  const seal = 'seal' in receipt && receipt.seal !== undefined ? `,"seal":${presentSeal(receipt.seal)}` : '';
  return `{"receipt":${receipt.receiptJson},${signatureFields(receipt)}${seal}}`;
}

/**
 * Proves that the round counted the receipt: hash `leaf`, go up by `proof`, and arrive at the root
 * in the signed `statement`.
 */
function presentSeal(seal: SealProof): string {
  const way = { leaf_index: Number(seal.leafIndex), proof: seal.proof.map((hash) => hash.toString('hex')) };
  return `{"statement":${seal.statementJson},${signatureFields(seal)},"leaf":${seal.leafJson},${membersOf(way)}}`;
}

function signatureFields({ signature, publicKey }: { signature: Buffer; publicKey: Buffer }): string {
  return membersOf({ signature: signature.toString('base64'), public_key: publicKey.toString('base64') });
}

function membersOf(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}
