/** Ed25519 signatures over canonical JSON: the form of a receipt and of a round's seal, and their offline verification. */
export { evidenceFields } from './evidence.ts';
export { keyIdOf } from './key-id.ts';
export {
  BLOCK_LEAVES,
  type BlockRoot,
  createMerkleTree,
  type Leaf,
  type MerkleTree,
  proveInclusion,
  verifyInclusion,
} from './merkle.ts';
export { type ReceiptVerdict, verifyReceipt } from './receipt-verdict.ts';
export {
  ROUND_SEAL_KIND,
  type SealLeaf,
  type SealProof,
  type SealStatement,
  type SealVerdict,
  verifySeal,
} from './round-seal.ts';
export { createSigner, type SignedDocument, type Signer, verifySignature } from './signature.ts';
export { canonicalJson } from './signed-bytes.ts';
export { listedKeys, pinnedKey, type TrustedKey } from './trusted-keys.ts';
export { signWebhook, verifyWebhook } from './webhook-signature.ts';
