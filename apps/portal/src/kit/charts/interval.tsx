/**
 * `<IntervalChart title="Pass rate" format={formatShare} name="Observed" value={{ value: 0.2, low:
 * 0.1, high: 0.3 }} reference={{ name: 'Target', value: 0.25 }} />`: one value with its interval,
 * beside the value that it should have.
 */
import { scaleLinear } from 'd3-scale';
import type { ReactNode } from 'react';
import { BottomAxis } from './axes.tsx';
import { ChartFigure, type Drawing, Legend } from './figure.tsx';
import { domainOf, frameOf } from './geometry.ts';

interface IntervalChartProps {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly name: string;
  readonly value: { readonly value: number; readonly low: number; readonly high: number };
  readonly reference: { readonly name: string; readonly value: number };
  /** The unit names the axis. */
  readonly unit: string;
  readonly note?: ReactNode;
}

const LABEL_PX = 90;
const BAND_PX = 28;
const DOT_PX = 6;

export function IntervalChart(props: IntervalChartProps): ReactNode {
  const { title, format, name, value, reference, note } = props;
  return (
    <ChartFigure
      title={title}
      summary={`${name}: ${textOf(props)}. ${reference.name}: ${format(reference.value)}.`}
      note={note}
      legend={
        <Legend
          entries={[
            { name, tone: 'info' },
            { name: `${reference.name} ${format(reference.value)}`, tone: 'reference' },
          ]}
        />
      }
      columns={[reference.name, name, 'Low', 'High']}
      rows={[[reference.value, value.value, value.low, value.high].map(format)]}
      draw={(width) => drawInterval(width, props)}
    />
  );
}

function textOf({ value: { value, low, high }, format }: IntervalChartProps): string {
  return `${format(value)} (${format(low)} to ${format(high)})`;
}

function drawInterval(width: number, props: IntervalChartProps): Drawing {
  const { format, name, value, reference, unit } = props;
  const frame = frameOf(width, []);
  const ends = domainOf([value.low, value.high, value.value, reference.value]);
  const x = scaleLinear(ends, [frame.left, frame.right]).nice();
  const y = (frame.top + frame.bottom) / 2;
  return {
    frame,
    stops: [
      {
        x: x(value.value),
        title: name,
        values: [
          { name: 'Value', text: textOf(props), tone: 'info', y },
          { name: reference.name, text: format(reference.value) },
        ],
      },
    ],
    marks: (
      <>
        <BottomAxis
          frame={frame}
          widthPx={width}
          name={unit}
          ticks={x.ticks(width / LABEL_PX).map((tick) => ({ at: x(tick), text: format(tick) }))}
        />
        <g data-tone="info">
          <rect
            className="band"
            x={x(value.low)}
            width={x(value.high) - x(value.low)}
            y={y - BAND_PX / 2}
            height={BAND_PX}
            rx={4}
          />
          <circle className="mark" cx={x(value.value)} cy={y} r={DOT_PX} />
        </g>
        <line className="reference" x1={x(reference.value)} x2={x(reference.value)} y1={frame.top} y2={frame.bottom} />
      </>
    ),
  };
}
