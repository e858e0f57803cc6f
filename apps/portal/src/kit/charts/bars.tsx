/**
 * `<Bars title="Requests" series={[{ name: 'Successful', tone: 'good' }]} buckets={[{ from: ISO,
 * values: [12] }]} />`: counts per period, stacked; `values` are in the order of the series.
 */
import { scaleBand, scaleLinear } from 'd3-scale';
import type { ReactNode } from 'react';
import { formatCount, utcTime } from '../format.ts';
import { BottomAxis, ValueAxis } from './axes.tsx';
import { ChartFigure, type Drawing, Legend, type LegendEntry } from './figure.tsx';
import { frameOf, HEIGHT_PX, stackOf, timeLabel } from './geometry.ts';

interface BarsProps {
  readonly title: string;
  readonly series: readonly LegendEntry[];
  /** The buckets, at least one, have equal length and are oldest first. */
  readonly buckets: readonly Bucket[];
}

interface Bucket {
  readonly from: string;
  readonly values: readonly number[];
}

export function Bars({ title, series, buckets }: BarsProps): ReactNode {
  const totals = series.map(({ name }, index) => {
    const total = buckets.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
    return `${name}: ${formatCount(total)}.`;
  });
  return (
    <ChartFigure
      title={title}
      summary={totals.join(' ')}
      columns={['From', ...series.map(({ name }) => name)]}
      rows={buckets.map(({ from, values }) => [utcTime(from), ...values.map(formatCount)])}
      legend={<Legend entries={series} />}
      draw={(width) => drawBars(width, series, buckets)}
    />
  );
}

function drawBars(width: number, series: BarsProps['series'], buckets: BarsProps['buckets']): Drawing {
  const stacks = buckets.map(({ values }) => stackOf(values));
  const most = Math.max(1, ...stacks.map((stack) => stack.at(-1)?.[1] ?? 0));
  const y = scaleLinear([0, most], [HEIGHT_PX, 0]).nice(4);
  const counts = y.ticks(4).filter(Number.isInteger);
  const frame = frameOf(width, counts.map(formatCount));
  y.range([frame.bottom, frame.top]);
  const names = buckets.map(({ from }) => from);
  const x = scaleBand(names, [frame.left, frame.right]).padding(0.15);
  const centreOf = (from: string) => (x(from) ?? 0) + x.bandwidth() / 2;
  const spanMs = Date.parse(names.at(-1) ?? '') - Date.parse(names[0] ?? '');
  return {
    frame,
    stops: buckets.map(({ from, values }) => ({
      x: centreOf(from),
      widthPx: x.step(),
      title: utcTime(from),
      values: series.map(({ name, tone }, index) => ({ name, tone, text: formatCount(values[index] ?? 0) })),
    })),
    marks: (
      <>
        <ValueAxis frame={frame} ticks={counts.map((value) => ({ at: y(value), text: formatCount(value) }))} />
        {stacks.map((stack, bucket) =>
          stack.map(([low, high], index) => (
            <rect
              key={`${names[bucket]} ${series[index]?.name}`}
              className="mark"
              data-tone={series[index]?.tone}
              x={x(names[bucket] ?? '')}
              width={x.bandwidth()}
              y={y(high)}
              height={y(low) - y(high)}
            />
          )),
        )}
        <BottomAxis
          frame={frame}
          widthPx={width}
          name="UTC"
          ticks={names.map((from) => ({ at: centreOf(from), text: timeLabel(Date.parse(from), spanMs) }))}
        />
      </>
    ),
  };
}
