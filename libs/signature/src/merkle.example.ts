/**
 * Merkle trees of every shape, with the roots and audit paths that RFC 6962 defines for them. Tests
 * of tree builders and of proof verifiers use them.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';

export const MAX_LEAVES = 3_000;
/** Sizes around those at which the shape of a tree or its number of blocks changes. */
const CORNERS = [1, 2, 3, 4, 5, 7, 8, 9, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 2050, 3000];

/** The leaves of a tree of any size. */
export const TREES = fc
  .oneof(fc.constantFrom(...CORNERS), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: MAX_LEAVES }))
  .map((count) => Array.from({ length: count }, (_, index) => `leaf ${index}`));

// RFC 6962 section 2.1, literally. Hashes of subtrees are cached: otherwise a tree of thousands
// would take minutes.

type Hash = Buffer<ArrayBuffer>;
type Reference = { readonly mth: (from: number, to: number) => Hash; readonly path: (leaf: number) => Hash[] };

export function referenceOf(data: readonly string[]): Reference {
  const cache = new Map<string, Hash>();
  const sha = (...parts: (string | Uint8Array)[]) =>
    Buffer.from(parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest());
  const splitOf = (n: number) => {
    let k = 1;
    while (k * 2 < n) k *= 2;
    return k;
  };

  function mth(from: number, to: number): Hash {
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

  function path(m: number, from: number, to: number): Hash[] {
    if (to - from === 1) return [];
    const k = splitOf(to - from);
    return m < k
      ? [...path(m, from, from + k), mth(from + k, to)]
      : [...path(m - k, from + k, to), mth(from, from + k)];
  }

  return { mth, path: (leaf) => path(leaf, 0, data.length) };
}
