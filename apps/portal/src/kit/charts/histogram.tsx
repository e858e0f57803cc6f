/**
 * `<Histogram title="Scores" unit="points" bins={[{ from: 0, to: 10, count: 4 }]} marker={{ value: 42,
 * label: 'Bar' }} />`: how many lie in each bin; the marker is a vertical line.
 */
import { scaleLinear } from 'd3-scale';
import type { ReactNode } from 'react';
import { formatCount, formatScore } from '../format.ts';
import { BottomAxis, ChartFigure, HEIGHT_PX, MARGIN, ValueAxis } from './figure.tsx';

interface HistogramProps {
  readonly title: string;
  /** The unit of the values, as "points". */
  readonly unit: string;
  /** Of equal width, ascending, at least one. */
  readonly bins: readonly { readonly from: number; readonly to: number; readonly count: number }[];
  readonly marker?: { readonly value: number; readonly label: string } | undefined;
}

const GAP_PX = 1;

export function Histogram({ title, unit, bins, marker }: HistogramProps): ReactNode {
  const low = Math.min(bins[0]?.from ?? 0, marker?.value ?? Infinity);
  const high = Math.max(bins.at(-1)?.to ?? 1, marker?.value ?? -Infinity);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const total = bins.reduce((sum, { count }) => sum + count, 0);
  const where = marker === undefined ? '' : ` ${marker.label}: ${formatScore(marker.value)} ${unit}.`;
  return (
    <ChartFigure
      title={title}
      summary={`${formatCount(total)} values from ${formatScore(low)} to ${formatScore(high)} ${unit}.${where}`}
      columns={[`From (${unit})`, `To (${unit})`, 'Count']}
      rows={bins.map(({ from, to, count }) => [formatScore(from), formatScore(to), formatCount(count)])}
      draw={(width) => {
        const x = scaleLinear([low, high], [MARGIN.left, width - MARGIN.right]);
        const y = scaleLinear([0, most], [HEIGHT_PX - MARGIN.bottom, MARGIN.top]).nice(4);
        const valueTicks = y.ticks(4).filter(Number.isInteger);
        return (
          <>
            <ValueAxis
              widthPx={width}
              ticks={valueTicks.map((value) => ({ at: y(value), text: formatCount(value) }))}
            />
            {bins.map(({ from, to, count }) => (
              <rect
                key={from}
                className="mark"
                data-tone="info"
                x={x(from)}
                width={Math.max(1, x(to) - x(from) - GAP_PX)}
                y={y(count)}
                height={y(0) - y(count)}
              />
            ))}
            <BottomAxis ticks={x.ticks(width / 100).map((value) => ({ at: x(value), text: formatScore(value) }))} />
            {marker !== undefined && <Marker at={x(marker.value)} widthPx={width} label={marker.label} />}
          </>
        );
      }}
    />
  );
}

function Marker({ at, widthPx, label }: { at: number; widthPx: number; label: string }): ReactNode {
  const isRight = at > widthPx / 2;
  return (
    <g className="marker">
      <line x1={at} x2={at} y1={MARGIN.top} y2={HEIGHT_PX - MARGIN.bottom} />
      <text x={at + (isRight ? -5 : 5)} y={MARGIN.top + 8} textAnchor={isRight ? 'end' : 'start'}>
        {label}
      </text>
    </g>
  );
}
