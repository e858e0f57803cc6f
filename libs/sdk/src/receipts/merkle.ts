/** Proofs that a leaf is under the root of a Merkle tree over SHA-256 (RFC 6962 section 2.1). */
import { areEqual, type Bytes, sha256 } from '../bytes.ts';

const HASH_BYTES = 32;
/** The prefixes keep a node from passing for a leaf. */
const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/**
 * Whether the leaf is at this index of the tree with this size and root (RFC 9162 section 2.1.3.2).
 * A leaf is hashed as UTF-8.
 */
export async function isIncluded(facts: {
  readonly leaf: string;
  readonly index: number;
  readonly leaves: number;
  readonly proof: readonly Bytes[];
  readonly root: Bytes;
}): Promise<boolean> {
  const { index, leaves } = facts;
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(leaves) || index < 0 || index >= leaves) return false;
  // The indexes of the node and of the last node in its level. No bit operations: a tree may have
  // more than 2^31 leaves.
  let position = index;
  let last = leaves - 1;
  let node = await hashOf(LEAF_PREFIX, new TextEncoder().encode(facts.leaf));
  for (const sibling of facts.proof) {
    if (last === 0 || sibling.length !== HASH_BYTES) return false;
    if (position % 2 === 1 || position === last) {
      node = await hashOf(NODE_PREFIX, sibling, node);
      // The last node of an odd level has no sibling and moves up unchanged.
      while (position % 2 === 0 && position !== 0) {
        position /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      node = await hashOf(NODE_PREFIX, node, sibling);
    }
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && areEqual(node, facts.root);
}

function hashOf(prefix: number, ...parts: readonly Bytes[]): Promise<Bytes> {
  return sha256(Uint8Array.from([prefix, ...parts.flatMap((part) => [...part])]));
}
