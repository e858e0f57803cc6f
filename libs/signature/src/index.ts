/** Ed25519 signatures over canonical JSON: what a receipt and a round's seal are, and how anyone can check one offline. */
export { evidenceFields } from './evidence.ts';
export {
  BLOCK_LEAVES,
  type BlockRoot,
  createMerkleTree,
  type Leaf,
  type MerkleTree,
  proveInclusion,
  verifyInclusion,
} from './merkle.ts';
export {
  ROUND_SEAL_KIND,
  type SealLeaf,
  type SealProof,
  type SealStatement,
  type SealVerdict,
  verifySeal,
} from './round-seal.ts';
export { canonicalJson, createSigner, type SignedDocument, type Signer, verifySignature } from './signature.ts';
export { signWebhook, verifyWebhook } from './webhook-signature.ts';
