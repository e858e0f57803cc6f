/**
 * The seal of a tournament round, as its verifier reads it: a signed statement that binds the root of a Merkle tree to its size and its
 * round, and one leaf of that tree for each scored attempt. A holder of a receipt, its leaf, a proof and the statement can check without
 * the service that the receipt was counted, with which rank and which payout. Field names and formats are the contract's.
 */
import { createHash } from 'node:crypto';
import { verifyInclusion } from './merkle.ts';
import { canonicalJson } from './signed-bytes.ts';
import { findSigningKey, type TrustedKey } from './trusted-keys.ts';

/** Marks a signed document as a seal, so that no other document is accepted as one. */
export const ROUND_SEAL_KIND = 'laurel.round_seal';

export type SealStatement = {
  readonly kind: typeof ROUND_SEAL_KIND;
  readonly version: number;
  readonly round_id: string;
  readonly round_number: number;
  readonly tournament_id: string;
  readonly program_id: string;
  readonly environment: string;
  readonly threshold_direction: string;
  readonly tiebreak_direction: string | null;
  readonly purse_amount: string;
  readonly entrant_count: number;
  readonly scored_players: number;
  /** The size of the tree. */
  readonly leaves: number;
  /** Hexadecimal. */
  readonly root: string;
  readonly closes_at: string;
  readonly settled_at: string;
  /** The key that signed the statement (key-id.ts). Seals from before keys had ids have none. */
  readonly key_id?: string;
};

export type SealLeaf = {
  readonly round_id: string;
  readonly attempt_id: string;
  readonly receipt_id: string;
  /** Hexadecimal, over the receipt's canonical JSON in UTF-8. */
  readonly receipt_sha256: string;
  readonly player_ref: string;
  readonly score: number;
  readonly tiebreak: number | null;
  readonly recorded_at: string;
  /** Whether this run gave its player the rank; the others of the player carry the same rank and payout. */
  readonly best: boolean;
  readonly final_rank: number;
  readonly payout_amount: string;
};

/** The seal that comes with a receipt once its round is settled. Keys and signatures in base64, hashes in hexadecimal. */
export type SealProof = {
  readonly statement: SealStatement;
  readonly signature: string;
  readonly public_key: string;
  readonly leaf: SealLeaf;
  readonly leaf_index: number;
  readonly proof: readonly string[];
};

export type SealVerdict =
  | { readonly kind: 'counted'; readonly seal: SealProof; readonly key: TrustedKey }
  /** A sentence for a person. */
  | { readonly kind: 'not_counted'; readonly reason: string };

/**
 * Checks a receipt, as the canonical JSON that was signed, against a seal that came as JSON and that one of the trusted keys must have
 * signed. The key that comes with the seal proves nothing, and is ignored. Never throws.
 */
export function verifySeal(receipt: string, seal: unknown, trusted: readonly TrustedKey[]): SealVerdict {
  if (!isSealProof(seal)) return notCounted('the seal is not {statement, signature, leaf, leaf_index, proof}');
  const { statement, leaf } = seal;
  const [statementText, leafText] = [canonicalOf(statement), canonicalOf(leaf)];
  if (statementText === null || leafText === null) return notCounted('the seal has no canonical JSON');

  const signature = Buffer.from(seal.signature, 'base64');
  const signed = { document: statement, canonical: statementText, signature, datedBy: 'settled_at' };
  const verdict = findSigningKey(signed, trusted);
  if (verdict.kind === 'not_signed') return notCounted(`the seal of its round ${verdict.reason}`);
  if (statement.kind !== ROUND_SEAL_KIND) return notCounted('what was signed is not the seal of a round');
  if (leaf.round_id !== statement.round_id) return notCounted('the leaf belongs to another round than the seal');
  if (leaf.receipt_sha256 !== createHash('sha256').update(receipt, 'utf8').digest('hex')) {
    return notCounted('the leaf belongs to another receipt');
  }
  const isIncluded = verifyInclusion({
    leaf: leafText,
    index: seal.leaf_index,
    leaves: statement.leaves,
    proof: seal.proof.map((hash) => Buffer.from(hash, 'hex')),
    root: Buffer.from(statement.root, 'hex'),
  });
  return isIncluded
    ? { kind: 'counted', seal, key: verdict.key }
    : notCounted('the leaf does not lie under the sealed root');
}

/** The members that the checks and their verdict need. The signature and the root cover the others. */
function isSealProof(value: unknown): value is SealProof {
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

/** Null for what could never have been signed, for example a text with half a surrogate pair. */
function canonicalOf(document: object): string | null {
  try {
    return canonicalJson(document);
  } catch {
    return null;
  }
}

function notCounted(reason: string): SealVerdict {
  return { kind: 'not_counted', reason };
}
