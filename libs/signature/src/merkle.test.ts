import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_LEAVES, createMerkleTree, proveInclusion, verifyInclusion } from './merkle.ts';

const MAX_LEAVES = 3_000;
/** Sizes around each one at which the shape of a tree or the number of its blocks changes. */
const CORNERS = [1, 2, 3, 4, 5, 7, 8, 9, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 2050, 3000];

const leaves = fc
  .oneof(fc.constantFrom(...CORNERS), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: MAX_LEAVES }))
  .map((count) => Array.from({ length: count }, (_, index) => `leaf ${index}`));
const anyNumber = fc.oneof(fc.nat(20), fc.nat(MAX_LEAVES));

// RFC 6962 section 2.1, literally; the hashes of subtrees are cached, else a tree of thousands would take minutes.

type Reference = { readonly mth: (from: number, to: number) => Buffer; readonly path: (leaf: number) => Buffer[] };

function referenceOf(data: readonly string[]): Reference {
  const cache = new Map<string, Buffer>();
  const sha = (...parts: (string | Uint8Array)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
  const splitOf = (n: number) => {
    let k = 1;
    while (k * 2 < n) k *= 2;
    return k;
  };

  function mth(from: number, to: number): Buffer {
    const key = `${from}:${to}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const n = to - from;
    const k = splitOf(n);
    const hash =
      n === 0
        ? sha()
        : n === 1
          ? sha(Buffer.of(0), data[from] ?? '')
          : sha(Buffer.of(1), mth(from, from + k), mth(from + k, to));
    cache.set(key, hash);
    return hash;
  }

  function path(m: number, from: number, to: number): Buffer[] {
    if (to - from === 1) return [];
    const k = splitOf(to - from);
    return m < k
      ? [...path(m, from, from + k), mth(from + k, to)]
      : [...path(m - k, from + k, to), mth(from, from + k)];
  }

  return { mth, path: (leaf) => path(leaf, 0, data.length) };
}

/** From the leaf up, the side of each hash of the path. */
function shapeOf(m: number, n: number): string {
  if (n === 1) return '';
  let k = 1;
  while (k * 2 < n) k *= 2;
  return m < k ? `${shapeOf(m, k)}r` : `${shapeOf(m - k, n - k)}l`;
}

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

  it('a Merkle tree grown leaf by leaf has the root that RFC 6962 defines, whole and block by block', () => {
    fc.assert(
      fc.property(leaves, (data) => {
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
      fc.property(leaves, fc.nat(), (data, seed) => {
        const index = seed % data.length;
        expect(hexOf(prove(data, index))).toEqual(hexOf(referenceOf(data).path(index)));
      }),
      { numRuns: 40 },
    );
  });

  it('a Merkle proof holds for every leaf of a tree of any size', () => {
    fc.assert(
      fc.property(leaves, (data) => {
        const { mth, path } = referenceOf(data);
        const root = mth(0, data.length);
        data.forEach((leaf, index) => {
          // Plain, because an assertion for each of some thousand leaves would take most of the time.
          if (!verifyInclusion({ leaf, index, leaves: data.length, proof: path(index), root })) {
            throw new Error(`leaf ${index} of ${data.length} does not verify`);
          }
        });
      }),
      { numRuns: 30 },
    );
  });

  it('a Merkle proof does not hold for another leaf, index, root or proof', () => {
    fc.assert(
      fc.property(leaves, fc.nat(), anyNumber, fc.nat(31), (data, seed, other, byte) => {
        const index = seed % data.length;
        const proof = prove(data, index);
        const good = { leaf: data[index] ?? '', index, leaves: data.length, proof, root: build(data).root };
        const flip = (hash: Buffer) => hash.map((value, at) => (at === byte ? value ^ 1 : value));
        expect(verifyInclusion(good)).toBe(true);

        expect(verifyInclusion({ ...good, leaf: `${good.leaf} ` })).toBe(false);
        if (other !== index) expect(verifyInclusion({ ...good, index: other })).toBe(false);
        expect(verifyInclusion({ ...good, root: flip(good.root) })).toBe(false);
        expect(verifyInclusion({ ...good, root: good.root.subarray(1) })).toBe(false);
        expect(verifyInclusion({ ...good, proof: [...proof, good.root] })).toBe(false);
        if (proof.length === 0) return;
        const at = other % proof.length;
        expect(verifyInclusion({ ...good, proof: proof.with(at, Buffer.from(flip(proof[at] ?? good.root))) })).toBe(
          false,
        );
        expect(verifyInclusion({ ...good, proof: proof.toSpliced(at, 1) })).toBe(false);
        expect(verifyInclusion({ ...good, proof: proof.with(at, Buffer.alloc(31)) })).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  it('a Merkle proof holds for another size exactly where the leaf’s path has the same shape, so the size must be signed', () => {
    fc.assert(
      fc.property(leaves, fc.nat(), anyNumber, (data, seed, size) => {
        const index = seed % data.length;
        const proof = referenceOf(data).path(index);
        const holds = verifyInclusion({ leaf: data[index] ?? '', index, leaves: size, proof, root: build(data).root });
        expect(holds).toBe(index < size && shapeOf(index, size) === shapeOf(index, data.length));
      }),
      { numRuns: 40 },
    );
  });

  it('a Merkle proof never accepts a node as a leaf', () => {
    const data = ['a', 'b', 'c', 'd'];
    const { mth } = referenceOf(data);
    const inner = Buffer.concat([Buffer.of(1), mth(0, 1), mth(1, 2)]);
    for (const leaf of [inner, inner.subarray(1)]) {
      expect(verifyInclusion({ leaf, index: 0, leaves: 2, proof: [mth(2, 4)], root: mth(0, 4) })).toBe(false);
    }
  });

  it('a Merkle proof does not continue above the root', () => {
    const { mth } = referenceOf(['a', 'b']);
    expect(verifyInclusion({ leaf: 'b', index: 0, leaves: 1, proof: [mth(0, 1)], root: mth(0, 2) })).toBe(false);
  });

  it('a Merkle proof is not valid, and does not throw, with hashes of another length', () => {
    const { mth } = referenceOf(['a', 'b']);
    for (const length of [0, 31, 33, 64]) {
      const proof = [Buffer.alloc(length)];
      expect(verifyInclusion({ leaf: 'a', index: 0, leaves: 2, proof, root: mth(0, 2) })).toBe(false);
    }
  });

  it('a Merkle proof is not valid, and does not throw, for impossible indexes and sizes', () => {
    const root = build(['a']).root;
    for (const [index, size] of [
      [0, 0],
      [1, 1],
      [-1, 1],
      [0.5, 1],
      [Number.NaN, 1],
      [0, Number.POSITIVE_INFINITY],
      [2 ** 53, 2 ** 54],
    ] as const) {
      expect(verifyInclusion({ leaf: 'a', index, leaves: size, proof: [], root })).toBe(false);
    }
    expect(verifyInclusion({ leaf: 'a', index: 0, leaves: 1, proof: [], root })).toBe(true);
  });

  it('a Merkle proof holds in a tree of more than 2^32 leaves', () => {
    // The last leaf of a tree of 2^33 + 1 is directly under the root.
    const whole = Buffer.alloc(32, 7);
    const root = createHash('sha256')
      .update(Buffer.concat([Buffer.of(1), whole, referenceOf(['z']).mth(0, 1)]))
      .digest();
    expect(verifyInclusion({ leaf: 'z', index: 2 ** 33, leaves: 2 ** 33 + 1, proof: [whole], root })).toBe(true);
    expect(verifyInclusion({ leaf: 'z', index: 2 ** 32, leaves: 2 ** 33 + 1, proof: [whole], root })).toBe(false);
  });

  it('a Merkle proof is not made from leaves and roots that do not match', () => {
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
