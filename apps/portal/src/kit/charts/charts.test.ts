/** Charts are drawn 600 px wide until the browser has measured the space that they have. */
import fc from 'fast-check';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { formatShare } from '../format.ts';
import { Bars } from './bars.tsx';
import { HEIGHT_PX } from './geometry.ts';
import { Histogram } from './histogram.tsx';
import { IntervalChart } from './interval.tsx';
import { LineChart } from './line.tsx';

const WIDTH_PX = 600;

describe('a histogram', () => {
  const bins = [
    { from: 0, to: 10, count: 4 },
    { from: 10, to: 20, count: 8 },
    { from: 20, to: 30, count: 0 },
  ];

  test('a histogram has one bar per bin, as high as its count', () => {
    const [first, second, third] = marksOf(draw(Histogram, { title: 'Scores', unit: 'points', bins }));
    expect(second?.height).toBeCloseTo((first?.height ?? 0) * 2);
    expect(third?.height).toBe(0);
    expect((first?.x ?? 0) + (first?.width ?? 0)).toBeLessThan(second?.x ?? 0);
  });

  test('a histogram keeps its marker inside the picture, even beyond all bins', () => {
    for (const value of [-50, 15, 500]) {
      const area = { side: 'above', label: 'Clears the bar' } as const;
      const drawn = draw(Histogram, { title: 'Scores', unit: 'points', bins, marker: { value, label: 'Bar', area } });
      expect(drawn).toContain(`>Bar ${value}</text>`);
      const [shade] = rectsOf(drawn, 'area');
      const marker = Number(/class="marker"><line x1="([^"]+)"/.exec(drawn)?.[1]);
      expect(shade?.x).toBe(marker);
      expectInside(drawn);
    }
  });

  test('a histogram of one value has a visible bar', () => {
    const drawn = draw(Histogram, { title: 'Scores', unit: 'points', bins: [{ from: 5, to: 5, count: 3 }] });
    expect(marksOf(drawn)[0]?.width).toBeGreaterThanOrEqual(3);
    expectInside(drawn);
  });
});

test('the parts of stacked bars stay inside the picture', () => {
  const bucket = fc.tuple(fc.nat(1_000_000), fc.nat(1_000));
  fc.assert(
    fc.property(fc.array(bucket, { minLength: 1, maxLength: 168 }), (drawn) => {
      const buckets = drawn.map((values, hour) => ({
        from: new Date(Date.UTC(2026, 10, 21, hour)).toISOString(),
        values,
      }));
      const series = [
        { name: 'Successful', tone: 'good' },
        { name: 'Failed', tone: 'bad' },
      ];
      const picture = draw(Bars, { title: 'Requests', series, buckets });
      expectInside(picture);
      const marks = marksOf(picture);
      for (let index = 0; index < marks.length; index += 2) {
        const [low, high] = [marks[index], marks[index + 1]];
        expect((high?.y ?? 0) + (high?.height ?? 0)).toBeCloseTo(low?.y ?? Number.NaN, 6);
      }
    }),
    { numRuns: 30 },
  );
});

test('a line that leaves its range is drawn at the end of the range', () => {
  const at = (minute: number) => `2026-11-21T12:${String(minute).padStart(2, '0')}:00.000Z`;
  const points = [-900, 0, 900].map((value, index) => ({ at: at(index), value }));
  const series = [{ name: 'Evidence', tone: 'info', points }];
  const drawn = draw(LineChart, { title: 'Evidence', format: String, series, range: [-10, 10], valueTicks: [-10, 10] });
  const path = /class="line" d="M([^"]+)"/.exec(drawn)?.[1] ?? '';
  const heights = path.split('L').map((point) => Number(point.split(',')[1]));
  const [bottom = 0, , top = 0] = heights;
  expect(heights[1]).toBeCloseTo((bottom + top) / 2);
  expect([top > 0, bottom < HEIGHT_PX]).toEqual([true, true]);
});

test('an interval is drawn around its value, with the target value beside it', () => {
  const drawn = draw(IntervalChart, {
    title: 'Pass rate',
    format: (value) => formatShare(value),
    name: 'Observed',
    unit: 'of attempts',
    value: { value: 0.2, low: 0.1, high: 0.4 },
    reference: { name: 'Target', value: 0.5 },
  });
  const [band] = rectsOf(drawn, 'band');
  const dot = Number(/<circle class="mark" cx="([^"]+)"/.exec(drawn)?.[1]);
  const target = Number(/class="reference" x1="([^"]+)"/.exec(drawn)?.[1]);
  const [from, to] = [band?.x ?? Number.NaN, (band?.x ?? Number.NaN) + (band?.width ?? Number.NaN)];
  expect([from < dot, dot < to, to < target, target < WIDTH_PX]).toEqual([true, true, true, true]);
  expect(drawn).toContain('Observed: 20.0 % (10.0 % to 40.0 %). Target: 50.0 %.');
});

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function draw<Props extends object>(chart: (props: Props) => ReturnType<typeof Bars>, props: Props): string {
  return renderToStaticMarkup(createElement(chart as (props: object) => ReactElement, props));
}

function marksOf(drawn: string): readonly Rect[] {
  return rectsOf(drawn, 'mark');
}

function rectsOf(drawn: string, className: string): readonly Rect[] {
  return [...drawn.matchAll(new RegExp(`<rect class="${className}"[^>]*>`, 'g'))].map(([tag]) => {
    const read = (name: string) => Number(new RegExp(` ${name}="([^"]+)"`).exec(tag)?.[1]);
    return { x: read('x'), y: read('y'), width: read('width'), height: read('height') };
  });
}

function expectInside(drawn: string): void {
  for (const { x, y, width, height } of [...marksOf(drawn), ...rectsOf(drawn, 'area')]) {
    expect([x >= 0, y >= 0, x + width <= WIDTH_PX, y + height <= HEIGHT_PX]).toEqual([true, true, true, true]);
  }
}
