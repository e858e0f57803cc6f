/**
 * Merkle trees over SHA-256, by RFC 6962 section 2.1: MTH() = SHA-256(), MTH({d}) = SHA-256(0x00 ||
 * d), and MTH(D[n]) = SHA-256(0x01 || MTH(D[0:k]) || MTH(D[k:n])) with k the largest power of two
 * below n. The two prefixes keep a node from passing for a leaf.
 *
 * Each run of 1,024 leaves that begins at a multiple of 1,024 is a block, a subtree of its own;
 * only the last may be shorter. The tree over the blocks' roots is the upper part of the whole
 * tree, so a proof needs only those roots and the leaves of one block.
 *
 * A proof shows that a leaf has an index under a root. It does not show how many leaves there are,
 * because trees of several sizes have paths of the same shape. A signature over a root must
 * therefore cover the size too.
 */
import { hash } from 'node:crypto';

/** The content of a leaf; text is hashed as its UTF-8. */
export type Leaf = string | Uint8Array;

/** Leaves of a block. A power of two. */
export const BLOCK_LEAVES = 1_024;

const HASH_BYTES = 32;

export type BlockRoot = { readonly position: number; readonly root: Buffer };

/** A tree that grows leaf by leaf and holds one hash for each bit of its size. */
export interface MerkleTree {
  /** Returns the block that this leaf completes, or null. */
  append(leaf: Leaf): BlockRoot | null;
  /**
   * Returns the tree so far. `lastBlock` is its incomplete block; null if all blocks are complete.
   */
  end(): { readonly leaves: number; readonly root: Buffer; readonly lastBlock: BlockRoot | null };
}

export function createMerkleTree(): MerkleTree {
  const blocks = createFrontier();
  let block = createFrontier();
  let leaves = 0;
  return {
    append(leaf) {
      block.append(hashOfLeaf(leaf));
      leaves += 1;
      if (leaves % BLOCK_LEAVES !== 0) return null;
      const root = block.root();
      blocks.append(root);
      block = createFrontier();
      return { position: leaves / BLOCK_LEAVES - 1, root };
    },
    end() {
      if (leaves % BLOCK_LEAVES === 0) return { leaves, root: blocks.root(), lastBlock: null };
      const lastBlock = { position: Math.floor(leaves / BLOCK_LEAVES), root: block.root() };
      return { leaves, root: blocks.rootWith(lastBlock.root), lastBlock };
    },
  };
}

/**
 * The audit path of a leaf, from the leaf up (RFC 6962 section 2.1.1). `block` holds all leaves of
 * the leaf's block, `blockRoots` the roots of all blocks, both in order. Throws if they do not
 * match: then the stored leaves differ from the sealed ones.
 */
export function proveInclusion(facts: {
  readonly index: number;
  readonly leaves: number;
  readonly block: readonly Leaf[];
  readonly blockRoots: readonly Uint8Array[];
}): readonly Buffer[] {
  const { index, leaves, block, blockRoots } = facts;
  if (!Number.isSafeInteger(index) || index < 0 || index >= leaves)
    throw new RangeError(`a tree of ${leaves} leaves has no leaf ${index}`);
  const position = Math.floor(index / BLOCK_LEAVES);
  const start = position * BLOCK_LEAVES;
  if (blockRoots.length !== Math.ceil(leaves / BLOCK_LEAVES)) throw new RangeError('some block has no root');
  if (block.length !== Math.min(BLOCK_LEAVES, leaves - start)) throw new RangeError('the block is not complete');

  const lower = pathIn(block.map(hashOfLeaf), index - start);
  if (!Buffer.from(lower.root).equals(blockRoots[position] ?? Buffer.alloc(0))) {
    throw new Error(`block ${position} holds other leaves than those that its root was made of`);
  }
  return [...lower.path, ...pathIn(blockRoots, position).path];
}

interface Frontier {
  append(node: Buffer): void;
  root(): Buffer;
  /** The root of the tree with one more node. The node is not added to the tree. */
  rootWith(node: Buffer): Buffer;
}

/** The complete subtrees of a growing tree, largest first: a binary counter of its size. */
function createFrontier(): Frontier {
  const subtrees: { readonly nodes: number; readonly root: Buffer }[] = [];

  function fold(last: Buffer): Buffer {
    return subtrees.reduceRight((right, left) => hashOfNode(left.root, right), last);
  }

  return {
    append(node) {
      let grown = { nodes: 1, root: node };
      for (let left = subtrees.at(-1); left !== undefined && left.nodes === grown.nodes; left = subtrees.at(-1)) {
        grown = { nodes: left.nodes * 2, root: hashOfNode(left.root, grown.root) };
        subtrees.pop();
      }
      subtrees.push(grown);
    },
    root() {
      const smallest = subtrees.pop();
      if (smallest === undefined) return hash('sha256', '', 'buffer');
      const root = fold(smallest.root);
      subtrees.push(smallest);
      return root;
    },
    rootWith: fold,
  };
}

/**
 * Returns the root and an audit path over nodes, level by level. A node without a sibling moves up
 * unchanged.
 */
function pathIn(
  nodes: readonly Uint8Array[],
  index: number,
): { readonly root: Uint8Array; readonly path: readonly Buffer[] } {
  const path: Buffer[] = [];
  let level = nodes;
  for (let position = index; level.length > 1; position = Math.floor(position / 2)) {
    const sibling = level[position % 2 === 0 ? position + 1 : position - 1];
    if (sibling !== undefined) path.push(Buffer.from(sibling));
    level = levelAbove(level);
  }
  const [root] = level;
  if (root === undefined) throw new RangeError('an empty tree has no audit path');
  return { root, path };
}

function levelAbove(level: readonly Uint8Array[]): readonly Uint8Array[] {
  const above: Uint8Array[] = [];
  level.forEach((node, at) => {
    if (at % 2 === 1) return;
    const right = level[at + 1];
    above.push(right === undefined ? node : hashOfNode(node, right));
  });
  return above;
}

// One call hashes one buffer. A hash object that is updated twice takes twice as long (measured).
function hashOfLeaf(leaf: Leaf): Buffer {
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(leaf));
  bytes[0] = 0;
  if (typeof leaf === 'string') bytes.write(leaf, 1);
  else bytes.set(leaf, 1);
  return hash('sha256', bytes, 'buffer');
}

function hashOfNode(left: Uint8Array, right: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(1 + 2 * HASH_BYTES);
  bytes[0] = 1;
  bytes.set(left, 1);
  bytes.set(right, 1 + HASH_BYTES);
  return hash('sha256', bytes, 'buffer');
}
