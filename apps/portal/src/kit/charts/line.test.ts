import { expect, test } from 'vitest';
import { formatShare } from '../format.ts';
import { stopsOf, tableOf } from './line.tsx';

const FIRST = '2026-11-21T12:00:00.000Z';
const SECOND = '2026-11-21T13:00:00.000Z';

test('a line chart has one stop for each time at which any series has a point', () => {
  const above = { at: SECOND, value: 0.5, low: 0.4, high: 0.6, detail: 'of 20' };
  const stops = stopsOf(
    [
      { name: 'Above', tone: 'bad', points: [above] },
      {
        name: 'Below',
        tone: 'warn',
        points: [
          { at: FIRST, value: 0.1 },
          { at: SECOND, value: 0.2 },
        ],
      },
    ],
    (value) => formatShare(value, 0),
  );
  expect(stops.map(({ title }) => title)).toEqual(['2026-11-21 12:00:00.000 UTC', '2026-11-21 13:00:00.000 UTC']);
  expect(stops.map(({ values }) => values)).toEqual([
    [{ name: 'Below', tone: 'warn', value: 0.1, text: '10 %' }],
    [
      { name: 'Above', tone: 'bad', value: 0.5, text: '50 % (40 % to 60 %) of 20' },
      { name: 'Below', tone: 'warn', value: 0.2, text: '20 %' },
    ],
  ]);
});

test('the table of a line chart has one row for each time and one column for each series', () => {
  const observed = { at: FIRST, value: 0.5, low: 0.4, high: 0.6, detail: 'of 20' };
  const percent = (value: number) => formatShare(value, 0);
  const one = { name: 'Observed', tone: 'info', points: [observed] };
  expect(tableOf([one], percent)).toEqual({
    columns: ['Time', 'Observed', 'Low', 'High'],
    rows: [['2026-11-21 12:00:00.000 UTC', '50 % of 20', '40 %', '60 %']],
  });
  const other = { name: 'Other', tone: 'warn', points: [{ at: SECOND, value: 0.2 }] };
  expect(tableOf([one, other], percent)).toEqual({
    columns: ['Time', 'Observed', 'Observed: Low', 'Observed: High', 'Other'],
    rows: [
      ['2026-11-21 12:00:00.000 UTC', '50 % of 20', '40 %', '60 %', '–'],
      ['2026-11-21 13:00:00.000 UTC', '–', '–', '–', '20 %'],
    ],
  });
});
