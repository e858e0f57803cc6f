/**
 * `<LineChart title="Pass rate" format={formatShare} series={[{ name: 'Observed', tone: 'info', points:
 * [{ at: 0, value: 0.2, low: 0.1, high: 0.3 }] }]} references={[{ name: 'Target', value: 0.25 }]}
 * x="attempts" />`: lines, each with the interval of its points; references are dashed lines. `at`
 * is a number, or an ISO time where `x` is "time".
 */
import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { ReactNode } from 'react';
import { formatCount, utcTime } from '../format.ts';
import { BottomAxis, ChartFigure, HEIGHT_PX, Legend, MARGIN, ValueAxis } from './figure.tsx';

export interface Point {
  readonly at: number | string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

interface LineChartProps {
  readonly title: string;
  /** What runs to the right: "time", or the noun of a count. */
  readonly x: string;
  readonly format: (value: number) => string;
  /** Ascending points, at least two in one of them. */
  readonly series: readonly { readonly name: string; readonly tone: string; readonly points: readonly Point[] }[];
  readonly references?: readonly { readonly name: string; readonly value: number }[];
}

export function LineChart({ title, x: xName, format, series, references = [] }: LineChartProps): ReactNode {
  const isTime = xName === 'time';
  const positionOf = ({ at }: Point) => (typeof at === 'string' ? Date.parse(at) : at);
  const points = series.flatMap((one) => one.points);
  const values = [
    ...points.flatMap(({ value, low = value, high = value }) => [value, low, high]),
    ...references.map(({ value }) => value),
  ];
  const positions = points.map(positionOf);
  const ends = [Math.min(...positions), Math.max(...positions)] as const;
  const name = (at: number | string) => (typeof at === 'string' ? utcTime(at) : formatCount(at));
  const last = series.map((one) => `${one.name}: ${format(one.points.at(-1)?.value ?? 0)}.`);
  return (
    <ChartFigure
      title={title}
      summary={[...last, ...references.map((one) => `${one.name}: ${format(one.value)}.`)].join(' ')}
      columns={['Series', isTime ? 'Time' : xName, 'Value', 'Low', 'High']}
      rows={series.flatMap((one) =>
        one.points.map(({ at, value, low, high }) => [
          one.name,
          name(at),
          format(value),
          low === undefined ? '–' : format(low),
          high === undefined ? '–' : format(high),
        ]),
      )}
      legend={
        <Legend
          entries={[
            ...series,
            ...references.map((one) => ({ name: `${one.name} ${format(one.value)}`, tone: 'reference' })),
          ]}
        />
      }
      draw={(width) => {
        const range = [MARGIN.left, width - MARGIN.right];
        const x = isTime ? scaleUtc(ends, range) : scaleLinear(ends, range);
        const y = scaleLinear([Math.min(...values), Math.max(...values)], [HEIGHT_PX - MARGIN.bottom, MARGIN.top]).nice(
          4,
        );
        const xOf = (point: Point) => x(positionOf(point));
        const band = area<Point>(
          xOf,
          (point) => y(point.low ?? point.value),
          (point) => y(point.high ?? point.value),
        );
        const path = line<Point>(xOf, (point) => y(point.value));
        const label = x.tickFormat(4);
        return (
          <>
            <ValueAxis widthPx={width} ticks={y.ticks(4).map((value) => ({ at: y(value), text: format(value) }))} />
            {series.map((one) => (
              <g key={one.name} data-tone={one.tone}>
                <path className="band" d={band(one.points) ?? ''} />
                <path className="line" d={path(one.points) ?? ''} />
              </g>
            ))}
            {references.map((one) => (
              <line
                key={one.name}
                className="reference"
                x1={range[0]}
                x2={range[1]}
                y1={y(one.value)}
                y2={y(one.value)}
              />
            ))}
            <BottomAxis
              ticks={x.ticks(width / 120).map((tick) => ({ at: x(tick), text: label(tick as Date & number) }))}
            />
          </>
        );
      }}
    />
  );
}
