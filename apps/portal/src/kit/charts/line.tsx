/**
 * `<LineChart title="Pass rate" format={formatShare} series={[{ name: 'Observed', tone: 'info',
 * points: [{ at: ISO, value: 0.2, low: 0.1, high: 0.3 }] }]}
 * references={[{ name: 'Target', value: 0.25 }]} />`: lines over time, each with the interval of
 * its points; references are dashed lines.
 */
import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { ReactNode } from 'react';
import { utcTime } from '../format.ts';
import { BottomAxis, ValueAxis } from './axes.tsx';
import type { CursorStop } from './cursor.tsx';
import { ChartFigure, type Drawing, Legend } from './figure.tsx';
import { domainOf, frameOf, HEIGHT_PX, timeLabel } from './geometry.ts';

export interface Point {
  /** The instant is in ISO 8601. */
  readonly at: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  /** The detail is shown beside the value, as "of 120 attempts". */
  readonly detail?: string;
}

interface Series {
  readonly name: string;
  readonly tone: string;
  /** The points ascend in time. */
  readonly points: readonly Point[];
}

interface LineChartProps {
  readonly title: string;
  readonly format: (value: number) => string;
  /** The series have points at two times or more. */
  readonly series: readonly Series[];
  readonly references?: readonly { readonly name: string; readonly value: number }[];
  /**
   * The lowest and the highest value of the chart; by default the lowest and the highest point. A
   * point outside the range is drawn at the edge.
   */
  readonly range?: readonly [number, number];
  /** The values that have a line and a label; by default some round values. */
  readonly valueTicks?: readonly number[];
  readonly note?: ReactNode;
}

const LABEL_PX = 110;

export function LineChart(props: LineChartProps): ReactNode {
  const { title, format, series, references = [], note } = props;
  const last = series.map((one) => `${one.name}: ${format(one.points.at(-1)?.value ?? 0)}.`);
  return (
    <ChartFigure
      title={title}
      summary={[...last, ...references.map((one) => `${one.name}: ${format(one.value)}.`)].join(' ')}
      note={note}
      {...tableOf(series, format)}
      legend={
        <Legend
          entries={[
            ...series,
            ...references.map((one) => ({ name: `${one.name} ${format(one.value)}`, tone: 'reference' })),
          ]}
        />
      }
      draw={(width) => drawLines(width, props)}
    />
  );
}

/** Returns one row for each time, with the values of every series beside each other. */
export function tableOf(series: readonly Series[], format: LineChartProps['format']) {
  const heads = series.flatMap(({ name, points }) => {
    const prefix = series.length === 1 ? '' : `${name}: `;
    return hasInterval(points) ? [name, `${prefix}Low`, `${prefix}High`] : [name];
  });
  const cellsOf = ({ points }: Series, time: string) => {
    const point = points.find(({ at }) => at === time);
    const ends = hasInterval(points) ? [point?.low, point?.high] : [];
    const value = point === undefined ? '–' : [format(point.value), point.detail ?? ''].join(' ').trim();
    return [value, ...ends.map((end) => (end === undefined ? '–' : format(end)))];
  };
  return {
    columns: ['Time', ...heads],
    rows: timesOf(series).map((time) => [utcTime(time), ...series.flatMap((one) => cellsOf(one, time))]),
  };
}

function hasInterval(points: readonly Point[]): boolean {
  return points.some(({ low }) => low !== undefined);
}

/** Every time at which a series has a point, oldest first. */
function timesOf(series: readonly Series[]): readonly string[] {
  const times = [...new Set(series.flatMap(({ points }) => points.map(({ at }) => at)))];
  return times.sort((one, other) => Date.parse(one) - Date.parse(other));
}

function drawLines(width: number, { format, series, references = [], range, valueTicks }: LineChartProps): Drawing {
  const points = series.flatMap((one) => one.points);
  const y = scaleLinear(range ?? domainOf(valuesOf(points, references)), [HEIGHT_PX, 0]).clamp(range !== undefined);
  if (range === undefined) y.nice(4);
  const values = valueTicks ?? y.ticks(4);
  const frame = frameOf(width, values.map(format));
  y.range([frame.bottom, frame.top]);
  const [from, to] = domainOf(points.map(({ at }) => Date.parse(at)));
  const x = scaleUtc([from, to], [frame.left, frame.right]);
  const xOf = ({ at }: Point) => x(Date.parse(at));
  const band = area<Point>(
    xOf,
    (point) => y(point.low ?? point.value),
    (point) => y(point.high ?? point.value),
  );
  const path = line<Point>(xOf, (point) => y(point.value));
  return {
    frame,
    stops: stopsOf(series, format).map(({ at, title, values: shown }) => ({
      x: x(at),
      title,
      values: shown.map(({ value, ...rest }) => ({ ...rest, y: y(value) })),
    })),
    marks: (
      <>
        <ValueAxis frame={frame} ticks={values.map((value) => ({ at: y(value), text: format(value) }))} />
        {series.map((one) => (
          <g key={one.name} data-tone={one.tone}>
            <path className="band" d={band(one.points) ?? ''} />
            <path className="line" d={path(one.points) ?? ''} />
          </g>
        ))}
        {references.map(({ name, value }) => (
          <line key={name} className="reference" x1={frame.left} x2={frame.right} y1={y(value)} y2={y(value)} />
        ))}
        <BottomAxis
          frame={frame}
          widthPx={width}
          name="UTC"
          ticks={x.ticks(width / LABEL_PX).map((tick) => ({ at: x(tick), text: timeLabel(tick.getTime(), to - from) }))}
        />
      </>
    ),
  };
}

function valuesOf(points: readonly Point[], references: readonly { readonly value: number }[]): readonly number[] {
  const ofPoints = points.flatMap(({ value, low = value, high = value }) => [value, low, high]);
  return [...ofPoints, ...references.map(({ value }) => value)];
}

interface TimedStop extends Pick<CursorStop, 'title'> {
  readonly at: number;
  readonly values: readonly (CursorStop['values'][number] & { readonly value: number })[];
}

/** Returns one stop for each time at which a series has a point, from the oldest to the newest. */
export function stopsOf(series: readonly Series[], format: LineChartProps['format']): readonly TimedStop[] {
  return timesOf(series).map((at) => ({
    at: Date.parse(at),
    title: utcTime(at),
    values: series.flatMap(({ name, tone, points }) =>
      points.filter((point) => point.at === at).map((point) => ({ name, tone, ...readingOf(point, format) })),
    ),
  }));
}

function readingOf({ value, low, high, detail }: Point, format: LineChartProps['format']) {
  const interval = low === undefined || high === undefined ? [] : [`(${format(low)} to ${format(high)})`];
  return { value, text: [format(value), ...interval, ...(detail === undefined ? [] : [detail])].join(' ') };
}
