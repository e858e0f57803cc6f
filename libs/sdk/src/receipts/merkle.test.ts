import { hash } from 'node:crypto';
import { MAX_LEAVES, referenceOf, TREES } from '@laurel/signature/merkle.example';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isIncluded } from './merkle.ts';

/**
 * The shape of the audit path of leaf `m` of `n`: for each hash, from the leaf up, whether it
 * stands on the right or on the left.
 */
function shapeOf(m: number, n: number): string {
  if (n === 1) return '';
  let k = 1;
  while (k * 2 < n) k *= 2;
  return m < k ? `${shapeOf(m, k)}r` : `${shapeOf(m - k, n - k)}l`;
}

const anyNumber = fc.oneof(fc.nat(20), fc.nat(MAX_LEAVES));
const sha256 = (...parts: readonly Uint8Array[]) => Buffer.from(hash('sha256', Buffer.concat(parts), 'buffer'));

describe('a Merkle proof', () => {
  it('a Merkle proof holds for every leaf of every tree of up to 130 leaves', async () => {
    for (let leaves = 1; leaves <= 130; leaves += 1) {
      const data = Array.from({ length: leaves }, (_, index) => `leaf ${index}`);
      const { mth, path } = referenceOf(data);
      const root = mth(0, leaves);
      const verdicts = await Promise.all(
        data.map((leaf, index) => isIncluded({ leaf, index, leaves, proof: path(index), root })),
      );
      expect({ leaves, failed: verdicts.indexOf(false) }).toEqual({ leaves, failed: -1 });
    }
  });

  it('a Merkle proof holds for every tested leaf of a tree of any size', async () => {
    await fc.assert(
      fc.asyncProperty(TREES, fc.nat(), async (data, seed) => {
        const { mth, path } = referenceOf(data);
        const root = mth(0, data.length);
        for (const index of [0, data.length - 1, seed % data.length]) {
          const facts = { leaf: data[index] ?? '', index, leaves: data.length, proof: path(index), root };
          expect(await isIncluded(facts)).toBe(true);
        }
      }),
    );
  });

  it('a Merkle proof does not hold for another leaf, index, root or proof', async () => {
    await fc.assert(
      fc.asyncProperty(TREES, fc.nat(), anyNumber, fc.nat(31), async (data, seed, other, byte) => {
        const index = seed % data.length;
        const { mth, path } = referenceOf(data);
        const proof = path(index);
        const good = { leaf: data[index] ?? '', index, leaves: data.length, proof, root: mth(0, data.length) };
        const flip = (bytes: Buffer<ArrayBuffer>) => bytes.map((value, at) => (at === byte ? value ^ 1 : value));
        expect(await isIncluded(good)).toBe(true);

        expect(await isIncluded({ ...good, leaf: `${good.leaf} ` })).toBe(false);
        if (other !== index) expect(await isIncluded({ ...good, index: other })).toBe(false);
        expect(await isIncluded({ ...good, root: flip(good.root) })).toBe(false);
        expect(await isIncluded({ ...good, root: good.root.subarray(1) })).toBe(false);
        expect(await isIncluded({ ...good, proof: [...proof, good.root] })).toBe(false);
        if (proof.length === 0) return;
        const at = other % proof.length;
        expect(await isIncluded({ ...good, proof: proof.with(at, Buffer.from(flip(proof[at] ?? good.root))) })).toBe(
          false,
        );
        expect(await isIncluded({ ...good, proof: proof.toSpliced(at, 1) })).toBe(false);
        expect(await isIncluded({ ...good, proof: proof.with(at, Buffer.alloc(31)) })).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  it('a Merkle proof also holds for another tree size in which the leaf’s path has the same shape', async () => {
    await fc.assert(
      fc.asyncProperty(TREES, fc.nat(), anyNumber, async (data, seed, size) => {
        const index = seed % data.length;
        const { mth, path } = referenceOf(data);
        const facts = { leaf: data[index] ?? '', index, proof: path(index), root: mth(0, data.length) };
        const holds = await isIncluded({ ...facts, leaves: size });
        expect(holds).toBe(index < size && shapeOf(index, size) === shapeOf(index, data.length));
      }),
      { numRuns: 40 },
    );
  });

  it('a Merkle proof never accepts a node as a leaf', async () => {
    const leaf = 'as long as two hashes, which is what a node of the tree consists';
    const rootBy = (...prefix: readonly number[]) => sha256(Buffer.from(prefix), Buffer.from(leaf));
    const facts = { leaf, index: 0, leaves: 1, proof: [] };
    expect(await isIncluded({ ...facts, root: rootBy(0) })).toBe(true);
    for (const root of [rootBy(1), rootBy()]) expect(await isIncluded({ ...facts, root })).toBe(false);
  });

  it('a Merkle proof does not continue above the root', async () => {
    const { mth } = referenceOf(['a', 'b']);
    expect(await isIncluded({ leaf: 'b', index: 0, leaves: 1, proof: [mth(0, 1)], root: mth(0, 2) })).toBe(false);
  });

  it('a Merkle proof with hashes of another length is invalid and does not throw', async () => {
    const { mth } = referenceOf(['a', 'b']);
    for (const length of [0, 31, 33, 64]) {
      const proof = [Buffer.alloc(length)];
      expect(await isIncluded({ leaf: 'a', index: 0, leaves: 2, proof, root: mth(0, 2) })).toBe(false);
    }
  });

  it('a Merkle proof with impossible indexes and sizes is invalid and does not throw', async () => {
    const root = referenceOf(['a']).mth(0, 1);
    for (const [index, size] of [
      [0, 0],
      [1, 1],
      [-1, 1],
      [0.5, 1],
      [Number.NaN, 1],
      [0, Number.POSITIVE_INFINITY],
      [2 ** 53, 2 ** 54],
    ] as const) {
      expect(await isIncluded({ leaf: 'a', index, leaves: size, proof: [], root })).toBe(false);
    }
    expect(await isIncluded({ leaf: 'a', index: 0, leaves: 1, proof: [], root })).toBe(true);
  });

  it('a Merkle proof holds in a tree of more than 2^32 leaves', async () => {
    // The last leaf of a tree of 2^33 + 1 is directly under the root.
    const whole = Buffer.alloc(32, 7);
    const root = sha256(Buffer.of(1), whole, referenceOf(['z']).mth(0, 1));
    expect(await isIncluded({ leaf: 'z', index: 2 ** 33, leaves: 2 ** 33 + 1, proof: [whole], root })).toBe(true);
    expect(await isIncluded({ leaf: 'z', index: 2 ** 32, leaves: 2 ** 33 + 1, proof: [whole], root })).toBe(false);
  });
});
