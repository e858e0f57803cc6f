/** The axes of a chart: horizontal lines with their values at the left, and labels below. */
import type { ReactNode } from 'react';
import { type Frame, HEIGHT_PX, spacedTicks, type Tick } from './geometry.ts';

const LABEL_GAP_PX = 8;
const TICK_PX = 4;
const LABELS_PX = 16;
const NAME_PX = 6;

interface AxisProps {
  readonly frame: Frame;
  readonly ticks: readonly Tick[];
}

export function ValueAxis({ frame, ticks }: AxisProps): ReactNode {
  return (
    <g className="axis">
      {ticks.map(({ at, text }) => (
        <g key={at}>
          <line x1={frame.left} x2={frame.right} y1={at} y2={at} />
          <text x={frame.left - LABEL_GAP_PX} y={at} dy="0.32em" textAnchor="end">
            {text}
          </text>
        </g>
      ))}
    </g>
  );
}

interface BottomAxisProps extends AxisProps {
  readonly widthPx: number;
  /** The unit of the labels. */
  readonly name: string;
}

export function BottomAxis({ frame, ticks, widthPx, name }: BottomAxisProps): ReactNode {
  return (
    <g className="axis">
      <line className="base" x1={frame.left} x2={frame.right} y1={frame.bottom} y2={frame.bottom} />
      {spacedTicks(ticks, widthPx).map(({ at, text }) => (
        <g key={at}>
          <line className="base" x1={at} x2={at} y1={frame.bottom} y2={frame.bottom + TICK_PX} />
          <text x={at} y={frame.bottom + LABELS_PX} textAnchor="middle">
            {text}
          </text>
        </g>
      ))}
      <text className="axis-name" x={(frame.left + frame.right) / 2} y={HEIGHT_PX - NAME_PX} textAnchor="middle">
        {name}
      </text>
    </g>
  );
}
