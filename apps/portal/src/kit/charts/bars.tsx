/**
 * `<Bars title="Requests" series={[{ name: 'Successful', tone: 'good' }]} buckets={[{ from: ISO,
 * values: [12] }]} />`: counts per period, stacked; `values` are in the order of the series.
 */
import { scaleBand, scaleLinear } from 'd3-scale';
import type { ReactNode } from 'react';
import { formatCount, utcTime } from '../format.ts';
import { BottomAxis, ChartFigure, HEIGHT_PX, Legend, type LegendEntry, MARGIN, ValueAxis } from './figure.tsx';

interface BarsProps {
  readonly title: string;
  readonly series: readonly LegendEntry[];
  /** Of equal length, oldest first, at least one. */
  readonly buckets: readonly { readonly from: string; readonly values: readonly number[] }[];
}

const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const LABEL_PX = 70;

export function Bars({ title, series, buckets }: BarsProps): ReactNode {
  const sums = buckets.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const most = Math.max(1, ...sums);
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
      draw={(width) => {
        const names = buckets.map(({ from }) => from);
        const x = scaleBand(names, [MARGIN.left, width - MARGIN.right]).padding(0.15);
        const y = scaleLinear([0, most], [HEIGHT_PX - MARGIN.bottom, MARGIN.top]).nice(4);
        const valueTicks = y.ticks(4).filter(Number.isInteger);
        const every = Math.max(1, Math.ceil((buckets.length * LABEL_PX) / width));
        return (
          <>
            <ValueAxis
              widthPx={width}
              ticks={valueTicks.map((value) => ({ at: y(value), text: formatCount(value) }))}
            />
            {buckets.map(({ from, values }) =>
              series.map(({ name, tone }, index) => {
                const below = values.slice(0, index).reduce((sum, value) => sum + value, 0);
                const value = values[index] ?? 0;
                return (
                  <rect
                    key={`${from} ${name}`}
                    className="mark"
                    data-tone={tone}
                    x={x(from)}
                    width={x.bandwidth()}
                    y={y(below + value)}
                    height={y(below) - y(below + value)}
                  />
                );
              }),
            )}
            <BottomAxis
              ticks={names
                .filter((_name, index) => index % every === 0)
                .map((from) => ({ at: (x(from) ?? 0) + x.bandwidth() / 2, text: hour.format(new Date(from)) }))}
            />
          </>
        );
      }}
    />
  );
}
