import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksOf } from './table-blocks.ts';
import { windowOf } from './table-window.ts';

const blocks = blocksOf(
  [],
  Array.from({ length: 100_000 }, (_, index) => index),
  String,
);

test('the window of a long table covers the screen at any scroll position', () => {
  const heights = fc.record({
    blocks: fc
      .array(fc.tuple(fc.nat(blocks.length - 1), fc.integer({ min: 50, max: 4_000 })))
      .map((all) => new Map(all)),
    rowPx: fc.integer({ min: 20, max: 300 }),
  });
  fc.assert(
    fc.property(heights, fc.double({ min: -0.1, max: 1.1, noNaN: true }), (known, at) => {
      const heightOf = (index: number) => known.blocks.get(index) ?? (blocks[index]?.rows.length ?? 0) * known.rowPx;
      const total = blocks.reduce((sum, _, index) => sum + heightOf(index), 0);
      const view = { topPx: at * total, heightPx: 900 };
      const { first, last, abovePx, belowPx } = windowOf(blocks, view, known);
      let shown = 0;
      for (let id = first; id <= last; id += 1) shown += heightOf(id);
      expect(abovePx + shown + belowPx).toBe(total);
      // Beyond an end of the table there is nothing to show.
      expect(abovePx).toBeLessThanOrEqual(Math.max(0, view.topPx));
      expect(abovePx + shown).toBeGreaterThanOrEqual(Math.min(total, view.topPx + view.heightPx));
      expect(last - first).toBeLessThan(2_100 / 50 + 3);
    }),
    { numRuns: 50 },
  );
});
