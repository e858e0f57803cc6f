/**
 * Arbitrary rows and rules for the laws of the board's order, with many pairs of rows that differ
 * in one field only.
 */
import fc from 'fast-check';
import type { BoardRow, BoardRules } from './ranking.ts';
import type { Direction } from './tournament.ts';

const bits = new DataView(new ArrayBuffer(8));

/**
 * Any finite double, drawn by its bits: every magnitude is equally likely, subnormals and -0
 * included.
 */
const finite = fc
  .oneof(
    { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(doubleOf) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        0,
        -0,
        1,
        -1,
        1.5,
        Number.MIN_VALUE,
        -Number.MIN_VALUE,
        2.2250738585072014e-308,
        2.225073858507201e-308,
        -2.225073858507201e-308,
        Number.MAX_VALUE,
        -Number.MAX_VALUE,
        Number.MAX_SAFE_INTEGER,
        1 + Number.EPSILON,
      ),
    },
    { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
    { weight: 3, arbitrary: fc.integer({ min: -2, max: 2 }) },
  )
  .filter(Number.isFinite);

const instant = fc
  .oneof(fc.constantFrom(0, 1, 255, 256, 2 ** 48 - 1), fc.nat(3), fc.integer({ min: 0, max: 2 ** 48 - 1 }))
  .map((milliseconds) => new Date(milliseconds));

export const row: fc.Arbitrary<BoardRow> = fc.record({
  score: finite,
  tiebreak: fc.option(finite, { freq: 2 }),
  at: instant,
  entryId: fc.oneof(
    fc.uuid(),
    fc.constantFrom('00000000-0000-8000-8000-00000000000a', '00000000-0000-8000-8000-000000000009'),
  ),
});

/** Two rows that differ in some of their fields. */
export const rowPair: fc.Arbitrary<readonly [BoardRow, BoardRow]> = fc
  .tuple(row, row, fc.subarray(['score', 'tiebreak', 'at', 'entryId'] as const))
  .map(([one, other, same]) => [one, { ...other, ...Object.fromEntries(same.map((name) => [name, one[name]])) }]);

const direction = fc.constantFrom<Direction>('higher_is_better', 'lower_is_better');

export const rules: fc.Arbitrary<BoardRules> = fc.record({
  direction,
  tiebreak: fc.option(
    direction.map((of) => ({ metricName: 'tiebreak', direction: of })),
    { freq: 3 },
  ),
});

function doubleOf(value: bigint): number {
  bits.setBigUint64(0, value);
  return bits.getFloat64(0);
}
