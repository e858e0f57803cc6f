/**
 * The seal of a tournament round: a signed statement that binds the root of a Merkle tree to its
 * size and its round. The tree has one leaf for each scored attempt. With a receipt, anyone can
 * check without Laurel that it was counted, with which rank and which payout.
 */
import { fromHex, sha256, toHex } from '../bytes.ts';
import { canonicalJson } from './canonical-json.ts';
import { isIncluded } from './merkle.ts';
import { findSigningKey, type TrustedKey } from './trusted-keys.ts';

/** Marks a signed document as a seal, so that no other document is accepted as one. */
const ROUND_SEAL_KIND = 'laurel.round_seal';

/** The members of a seal that its checks and its reader need; a seal has more. */
export interface RoundSeal {
  readonly statement: {
    readonly kind: string;
    readonly round_id: string;
    readonly round_number: number;
    /** The size of the tree. */
    readonly leaves: number;
    /** The root is in hexadecimal. */
    readonly root: string;
    readonly settled_at: string;
  };
  /** The signature is in base64. */
  readonly signature: string;
  readonly leaf: {
    readonly round_id: string;
    readonly receipt_sha256: string;
    /**
     * Whether this run gave its player the rank; the player's other runs carry the same rank and
     * payout.
     */
    readonly best: boolean;
    readonly final_rank: number;
    readonly payout_amount: string;
  };
  readonly leaf_index: number;
  /** The proof is in hexadecimal. */
  readonly proof: readonly string[];
}

export type SealVerdict =
  | { readonly kind: 'counted'; readonly seal: RoundSeal; readonly key: TrustedKey }
  /** A sentence for a person. */
  | { readonly kind: 'not_counted'; readonly reason: string };

/**
 * Checks a receipt, as the canonical JSON that was signed, against a parsed seal that a trusted key
 * must have signed. It ignores the key inside the seal, which proves nothing.
 */
export async function verifySeal(receipt: string, seal: unknown, trusted: readonly TrustedKey[]): Promise<SealVerdict> {
  if (!isRoundSeal(seal)) return notCounted('the seal is not {statement, signature, leaf, leaf_index, proof}');
  const { statement, leaf, signature } = seal;
  const [statementText, leafText] = [canonicalJson(statement), canonicalJson(leaf)];
  if (statementText === null || leafText === null) return notCounted('the seal has no canonical JSON');

  const signed = { document: { ...statement }, canonical: statementText, signature, datedBy: 'settled_at' };
  const verdict = await findSigningKey(signed, trusted);
  if (verdict.kind === 'not_signed') return notCounted(`the seal of its round ${verdict.reason}`);
  if (statement.kind !== ROUND_SEAL_KIND) return notCounted('what was signed is not the seal of a round');
  if (leaf.round_id !== statement.round_id) return notCounted('the leaf belongs to another round than the seal');
  if (leaf.receipt_sha256 !== toHex(await sha256(new TextEncoder().encode(receipt)))) {
    return notCounted('the leaf belongs to another receipt');
  }
  const [root, proof] = [fromHex(statement.root), seal.proof.map(fromHex)];
  const isUnderRoot =
    root !== null &&
    proof.every((hash) => hash !== null) &&
    (await isIncluded({ leaf: leafText, index: seal.leaf_index, leaves: statement.leaves, proof, root }));
  return isUnderRoot
    ? { kind: 'counted', seal, key: verdict.key }
    : notCounted('the leaf does not lie under the sealed root');
}

function isRoundSeal(value: unknown): value is RoundSeal {
  if (!isObject(value)) return false;
  const { statement, leaf, proof } = value;
  return (
    isObject(statement) &&
    isObject(leaf) &&
    Array.isArray(proof) &&
    proof.every((hash) => typeof hash === 'string') &&
    typeof value.signature === 'string' &&
    typeof value.leaf_index === 'number' &&
    typeof statement.leaves === 'number' &&
    typeof statement.root === 'string' &&
    typeof statement.round_number === 'number' &&
    typeof leaf.best === 'boolean' &&
    typeof leaf.final_rank === 'number' &&
    typeof leaf.payout_amount === 'string'
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notCounted(reason: string): SealVerdict {
  return { kind: 'not_counted', reason };
}
