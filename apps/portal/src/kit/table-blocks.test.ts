import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BLOCK_ROWS, blocksOf, type RowBlock } from './table-blocks.ts';

interface Row {
  readonly key: number;
  readonly version: number;
}

const keyOf = ({ key }: Row) => String(key);
const rowsFrom = (from: number, to: number): readonly Row[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ key: from + index, version: 0 }));

test('blocks of a table contain all rows in order after any additions and changes', () => {
  const steps = fc.array(fc.record({ above: fc.nat(60), below: fc.nat(60), changed: fc.option(fc.nat()) }), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(steps, (all) => {
      let rows: readonly Row[] = [];
      let blocks: readonly RowBlock<Row>[] = [];
      for (const { above, below, changed } of all) {
        const [top, bottom] = [rows[0]?.key ?? 0, (rows.at(-1)?.key ?? -1) + 1];
        rows = [...rowsFrom(top - above, top), ...rows, ...rowsFrom(bottom, bottom + below)];
        if (changed !== null)
          rows = rows.map((row, at) => (at === changed ? { ...row, version: row.version + 1 } : row));
        const before = blocks;
        blocks = blocksOf(before, rows, keyOf);
        expect(blocks.flatMap((block) => block.rows)).toEqual(rows);
        expect(new Set(blocks.map(({ id }) => id)).size).toBe(blocks.length);
        for (const { rows: some } of blocks) expect(some.length).toBeLessThanOrEqual(BLOCK_ROWS);
        // A row never moves to another block: the browser would lose the row that holds the scroll
        // position.
        for (const { id, rows: some } of before) {
          const now = blocks.find((block) => block.id === id)?.rows.map(keyOf);
          expect(now).toEqual(expect.arrayContaining(some.map(keyOf)));
        }
      }
    }),
  );
});

test('blocks with unchanged rows stay the same objects', () => {
  const rows = rowsFrom(0, 100_000);
  const before = blocksOf([], rows, keyOf);
  const after = blocksOf(before, [...rowsFrom(-3, 0), ...rows, ...rowsFrom(100_000, 100_050)], keyOf);
  expect(before.every((block) => after.includes(block))).toBe(true);
  const changed = blocksOf(before, rows.with(30, { key: 30, version: 1 }), keyOf);
  expect(changed.map((block, at) => block === before[at]).indexOf(false)).toBe(Math.floor(30 / BLOCK_ROWS));
  expect(changed.filter((block, at) => block !== before[at])).toHaveLength(1);
});

test('rows that do not continue the previous rows are put in new blocks', () => {
  const before = blocksOf([], rowsFrom(0, 60), keyOf);
  for (const rows of [rowsFrom(100, 130), [...rowsFrom(0, 10), ...rowsFrom(11, 60)], rowsFrom(0, 20), []])
    expect(blocksOf(before, rows, keyOf).flatMap((block) => block.rows)).toEqual(rows);
});
