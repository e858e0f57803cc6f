import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  centreOfTextWithin,
  domainOf,
  frameOf,
  HEIGHT_PX,
  nearestStop,
  spacedTicks,
  stackOf,
  stopAfterKey,
  textWidthPx,
  timeLabel,
} from './geometry.ts';

const width = fc.integer({ min: 160, max: 2_000 });
const label = fc.string({ minLength: 1, maxLength: 12 });

describe('the labels of an axis', () => {
  const ticks = fc
    .array(fc.record({ share: fc.double({ min: 0, max: 1, noNaN: true }), text: label }), { maxLength: 60 })
    .map((drawn) => [...drawn].sort((one, other) => one.share - other.share));

  test('the labels of an axis never overlap', () => {
    fc.assert(
      fc.property(width, ticks, (widthPx, drawn) => {
        const shown = spacedTicks(
          drawn.map(({ share, text }) => ({ at: share * widthPx, text })),
          widthPx,
        );
        expect(shown.length > 0).toBe(drawn.length > 0);
        const boxes = shown.map(({ at, text }) => [at - textWidthPx(text) / 2, at + textWidthPx(text) / 2] as const);
        for (const [index, [from, to]] of boxes.entries()) {
          expect(from).toBeGreaterThanOrEqual(-1e-9);
          expect(to).toBeLessThanOrEqual(widthPx + 1e-9);
          expect(from).toBeGreaterThan(boxes[index - 1]?.[1] ?? -1);
        }
      }),
    );
  });

  test('an axis shows every n-th label if not all labels fit', () => {
    const even = [50, 150, 250, 350].map((at) => ({ at, text: `${at}` }));
    expect(spacedTicks(even, 400)).toEqual(even);
    const narrow = [20, 40, 60, 80, 100, 120].map((at) => ({ at, text: '1,000' }));
    expect(spacedTicks(narrow, 160).map(({ at }) => at)).toEqual([20, 80]);
  });

  test('a label near the edge moves inward', () => {
    expect(centreOfTextWithin(2, 'abcd', 300)).toBe(14);
    expect(centreOfTextWithin(299, 'abcd', 300)).toBe(286);
    expect(centreOfTextWithin(150, 'abcd', 300)).toBe(150);
  });
});

describe('the frame of the plot', () => {
  test('the frame of the plot leaves room at the left for its labels, up to a third of the picture', () => {
    fc.assert(
      fc.property(width, fc.array(label), fc.boolean(), (widthPx, labels, hasMarker) => {
        const { left, right, top, bottom } = frameOf(widthPx, labels, hasMarker);
        expect(left).toBeLessThan(right);
        expect(top).toBeLessThan(bottom);
        expect([top >= 0, bottom < HEIGHT_PX, right < widthPx]).toEqual([true, true, true]);
        for (const text of labels) expect(left).toBeGreaterThan(Math.min(textWidthPx(text), widthPx / 3 - 1));
      }),
    );
  });
});

describe('the cursor', () => {
  const stops = [10, 20, 40].map((x) => ({ x }));

  test.each([
    [-5, 0],
    [14, 0],
    [16, 1],
    [29, 1],
    [31, 2],
    [900, 2],
  ])('the cursor at %d px selects stop %d', (x, index) => {
    expect(nearestStop(stops, x)).toBe(index);
  });

  test('the cursor selects nothing if there are no stops', () => {
    expect(nearestStop([], 10)).toBe(-1);
  });

  test.each([
    ['ArrowRight', 1, 2],
    ['ArrowRight', 2, 2],
    ['ArrowUp', 0, 1],
    ['ArrowLeft', 1, 0],
    ['ArrowDown', 0, 0],
    ['Home', 2, 0],
    ['End', 0, 2],
    ['a', 1, undefined],
  ])('the key %s moves the cursor from stop %d to %s', (key, index, next) => {
    expect(stopAfterKey(key, index, 3)).toBe(next);
  });
});

test('the range of an axis is never empty, and contains every value', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1 }), (values) => {
      const [low, high] = domainOf(values);
      expect(low).toBeLessThan(high);
      for (const value of values) expect([low <= value, value <= high]).toEqual([true, true]);
    }),
  );
});

test('the parts of a stacked bar add up to the sum of its values', () => {
  expect(stackOf([3, 0, 4])).toEqual([
    [0, 3],
    [3, 3],
    [3, 7],
  ]);
  expect(stackOf([])).toEqual([]);
});

describe('a label of a time axis', () => {
  const AT = Date.parse('2026-11-21T12:34:56.789Z');
  const MIDNIGHT = Date.parse('2026-11-21T00:00:00.000Z');
  test.each([
    [AT, 2_000, '12:34:56.789'],
    [AT, 60_000, '12:34:56'],
    [AT, 3_600_000, '12:34'],
    [AT, 2 * 86_400_000, '12:34'],
    [MIDNIGHT, 2 * 86_400_000, '21 Nov'],
    [AT, 30 * 86_400_000, '21 Nov'],
    [AT, 800 * 86_400_000, 'Nov 2026'],
  ])('the label of instant %d on an axis of %d ms is "%s"', (at, span, text) => {
    expect(timeLabel(at, span)).toBe(text);
  });
});
