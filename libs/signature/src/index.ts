/** Ed25519 signatures over canonical JSON: what a receipt is, and how anyone can check one offline. */
export { canonicalJson, createSigner, type SignedDocument, type Signer, verifySignature } from './signature.ts';
