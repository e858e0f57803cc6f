/**
 * `<Histogram title="Scores" unit="points" bins={[{ from: 0, to: 10, count: 4 }]}
 * marker={{ value: 42, label: 'Bar', area: { side: 'above', label: 'Clears the bar' } }} />`: how
 * many lie in each bin.
 * The marker is a vertical line, and shades the area on one side of it.
 */
import { scaleLinear } from 'd3-scale';
import type { ReactNode } from 'react';
import { formatCount, formatScore, formatShare } from '../format.ts';
import { BottomAxis, ValueAxis } from './axes.tsx';
import { ChartFigure, type Drawing, Legend } from './figure.tsx';
import { centreOfTextWithin, domainOf, type Frame, frameOf, HEIGHT_PX } from './geometry.ts';

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

interface HistogramMarker {
  readonly value: number;
  readonly label: string;
  readonly area?: { readonly side: 'above' | 'below'; readonly label: string };
}

interface HistogramProps {
  readonly title: string;
  /** The unit of the values, as "points". */
  readonly unit: string;
  /** The bins, at least one, have equal width and ascend. */
  readonly bins: readonly Bin[];
  readonly marker?: HistogramMarker | undefined;
  readonly note?: ReactNode;
}

const GAP_PX = 1;
/** The width of a bin that has only one value. */
const LEAST_BAR_PX = 3;
const LABEL_PX = 90;
const MARKER_LABEL_PX = 8;

export function Histogram({ title, unit, bins, marker, note }: HistogramProps): ReactNode {
  const total = totalOf(bins);
  const ends = `from ${formatScore(bins[0]?.from ?? 0)} to ${formatScore(bins.at(-1)?.to ?? 0)} ${unit}`;
  const where = marker === undefined ? '' : ` ${marker.label}: ${formatScore(marker.value)} ${unit}.`;
  return (
    <ChartFigure
      title={title}
      summary={`${formatCount(total)} values ${ends}.${where}`}
      note={note}
      legend={marker?.area !== undefined && <Legend entries={[{ name: marker.area.label, tone: 'area' }]} />}
      columns={[`From (${unit})`, `To (${unit})`, 'Count', 'Share']}
      rows={bins.map(({ from, to, count }) => [
        formatScore(from),
        formatScore(to),
        formatCount(count),
        formatShare(count / Math.max(1, total)),
      ])}
      draw={(width) => drawHistogram(width, unit, bins, marker)}
    />
  );
}

function totalOf(bins: readonly Bin[]): number {
  return bins.reduce((sum, { count }) => sum + count, 0);
}

function drawHistogram(width: number, unit: string, bins: readonly Bin[], marker?: HistogramMarker): Drawing {
  const y = scaleLinear([0, Math.max(1, ...bins.map(({ count }) => count))], [HEIGHT_PX, 0]).nice(4);
  const counts = y.ticks(4).filter(Number.isInteger);
  const frame = frameOf(width, counts.map(formatCount), marker !== undefined);
  y.range([frame.bottom, frame.top]);
  const values = bins.flatMap(({ from, to }) => [from, to]);
  const x = scaleLinear(domainOf(marker === undefined ? values : [...values, marker.value]), [frame.left, frame.right]);
  const total = Math.max(1, totalOf(bins));
  const bars = bins.map(({ from, to, count }) => ({
    centre: (x(from) + x(to)) / 2,
    widthPx: Math.max(LEAST_BAR_PX, x(to) - x(from) - GAP_PX),
    from,
    to,
    count,
  }));
  return {
    frame,
    stops: bars.map(({ centre, widthPx, from, to, count }) => ({
      x: centre,
      widthPx,
      title: from === to ? `${formatScore(from)} ${unit}` : `${formatScore(from)} to ${formatScore(to)} ${unit}`,
      values: [
        { name: 'Count', text: formatCount(count) },
        { name: 'Share', text: formatShare(count / total) },
      ],
    })),
    marks: (
      <>
        {marker?.area !== undefined && <Area frame={frame} at={x(marker.value)} side={marker.area.side} />}
        <ValueAxis frame={frame} ticks={counts.map((value) => ({ at: y(value), text: formatCount(value) }))} />
        {bars.map(({ centre, widthPx, from, count }) => (
          <rect
            key={from}
            className="mark"
            data-tone="info"
            x={centre - widthPx / 2}
            width={widthPx}
            y={y(count)}
            height={y(0) - y(count)}
          />
        ))}
        <BottomAxis
          frame={frame}
          widthPx={width}
          name={unit}
          ticks={x.ticks(width / LABEL_PX).map((value) => ({ at: x(value), text: formatScore(value) }))}
        />
        {marker !== undefined && (
          <Marker
            frame={frame}
            at={x(marker.value)}
            widthPx={width}
            text={`${marker.label} ${formatScore(marker.value)}`}
          />
        )}
      </>
    ),
  };
}

function Area({ frame, at, side }: { frame: Frame; at: number; side: 'above' | 'below' }): ReactNode {
  const [from, to] = side === 'above' ? [at, frame.right] : [frame.left, at];
  return (
    <rect
      className="area"
      data-tone="good"
      x={from}
      width={Math.max(0, to - from)}
      y={frame.top}
      height={frame.bottom - frame.top}
    />
  );
}

function Marker({ frame, at, widthPx, text }: { frame: Frame; at: number; widthPx: number; text: string }): ReactNode {
  return (
    <g className="marker">
      <line x1={at} x2={at} y1={frame.top - MARKER_LABEL_PX / 2} y2={frame.bottom} />
      <text x={centreOfTextWithin(at, text, widthPx)} y={frame.top - MARKER_LABEL_PX} textAnchor="middle">
        {text}
      </text>
    </g>
  );
}
