import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referenceOf, TREES } from './merkle.example.ts';
import { BLOCK_LEAVES, createMerkleTree, proveInclusion } from './merkle.ts';

function build(data: readonly string[]) {
  const tree = createMerkleTree();
  const blockRoots: Buffer[] = [];
  for (const leaf of data) {
    const completed = tree.append(leaf);
    if (completed !== null) blockRoots[completed.position] = completed.root;
  }
  const end = tree.end();
  if (end.lastBlock !== null) blockRoots[end.lastBlock.position] = end.lastBlock.root;
  return { ...end, blockRoots };
}

function prove(data: readonly string[], index: number) {
  const start = Math.floor(index / BLOCK_LEAVES) * BLOCK_LEAVES;
  const { blockRoots } = build(data);
  const block = data.slice(start, start + BLOCK_LEAVES);
  return proveInclusion({ index, leaves: data.length, block, blockRoots });
}

const hexOf = (hashes: readonly Uint8Array[]) => hashes.map((hash) => Buffer.from(hash).toString('hex'));

describe('the tree', () => {
  it('a Merkle tree has the roots of the test vectors that Certificate Transparency publishes', () => {
    const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
    const tree = createMerkleTree();
    const roots = [tree.end().root];
    for (const hex of inputs) {
      tree.append(Buffer.from(hex, 'hex'));
      roots.push(tree.end().root);
    }
    expect(hexOf(roots)).toEqual([
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]);
  });

  it('a Merkle tree has the root that RFC 6962 defines', () => {
    fc.assert(
      fc.property(TREES, (data) => {
        const { mth } = referenceOf(data);
        const blocks = Array.from({ length: Math.ceil(data.length / BLOCK_LEAVES) }, (_, at) =>
          mth(at * BLOCK_LEAVES, Math.min(data.length, (at + 1) * BLOCK_LEAVES)),
        );
        const { root, leaves: size, blockRoots } = build(data);
        expect(size).toBe(data.length);
        expect(hexOf([root, ...blockRoots])).toEqual(hexOf([mth(0, data.length), ...blocks]));
      }),
      { numRuns: 40 },
    );
  });

  it('a Merkle tree may be read while it grows', () => {
    const tree = createMerkleTree();
    const data = Array.from({ length: BLOCK_LEAVES + 3 }, (_, index) => `${index}`);
    const { mth } = referenceOf(data);
    data.forEach((leaf, index) => {
      tree.append(leaf);
      if (index % 97 === 0 || index >= BLOCK_LEAVES - 2) expect(tree.end().root).toEqual(mth(0, index + 1));
    });
  });
});

describe('a proof', () => {
  it('a Merkle proof is the audit path that RFC 6962 defines', () => {
    fc.assert(
      fc.property(TREES, fc.nat(), (data, seed) => {
        const index = seed % data.length;
        expect(hexOf(prove(data, index))).toEqual(hexOf(referenceOf(data).path(index)));
      }),
      { numRuns: 40 },
    );
  });

  it('making a Merkle proof throws if the leaves do not match the root', () => {
    const data = Array.from({ length: BLOCK_LEAVES + 2 }, (_, index) => `${index}`);
    const { blockRoots } = build(data);
    const block = data.slice(BLOCK_LEAVES);
    const facts = { index: BLOCK_LEAVES + 1, leaves: data.length, block, blockRoots };
    expect(proveInclusion(facts)).toHaveLength(2);
    expect(() => proveInclusion({ ...facts, index: data.length })).toThrow('has no leaf');
    expect(() => proveInclusion({ ...facts, block: ['1024'] })).toThrow('not complete');
    expect(() => proveInclusion({ ...facts, block: ['1025', '1024'] })).toThrow('other leaves');
    expect(() => proveInclusion({ ...facts, blockRoots: blockRoots.slice(1) })).toThrow('has no root');
  });
});
