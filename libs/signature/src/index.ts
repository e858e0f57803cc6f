/**
 * Laurel's signatures: Ed25519 over canonical JSON for receipts and round seals, HMAC-SHA256 for
 * webhooks. libs/sdk verifies them.
 */
export { evidenceFields } from './evidence.ts';
export { keyIdOf } from './key-id.ts';
export { BLOCK_LEAVES, createMerkleTree, proveInclusion } from './merkle.ts';
export { ROUND_SEAL_KIND, type SealLeaf, type SealStatement } from './round-seal.ts';
export { createSigner, type SignedDocument, type Signer } from './signature.ts';
export { canonicalJson } from './signed-bytes.ts';
export { signWebhook } from './webhook-signature.ts';
