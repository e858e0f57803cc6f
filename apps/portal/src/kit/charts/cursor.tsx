/**
 * The cursor of a chart: it is at one of the stops, follows the pointer, and is moved by the arrow
 * keys. Beside it are the values of the stop; a screen reader reads them.
 */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react';
import { HEIGHT_PX, nearestStop, stopAfterKey } from './geometry.ts';

const GAP_PX = 12;

/** A place of a chart that has values. */
export interface CursorStop {
  readonly x: number;
  /** The width of a bar; a line has none. */
  readonly widthPx?: number;
  readonly title: string;
  readonly values: readonly {
    readonly name: string;
    readonly text: string;
    readonly tone?: string;
    /** Where the value stands on a line. */
    readonly y?: number;
  }[];
}

interface CursorProps {
  readonly title: string;
  readonly stops: readonly CursorStop[];
  readonly widthPx: number;
  readonly top: number;
  readonly bottom: number;
}

export function Cursor({ title, stops, widthPx, top, bottom }: CursorProps): ReactNode {
  const [index, setIndex] = useState<number>();
  const stop = index === undefined ? undefined : stops[index];
  const follow = (event: PointerEvent<HTMLDivElement>) =>
    setIndex(nearestStop(stops, event.clientX - event.currentTarget.getBoundingClientRect().left));
  const hide = () => setIndex(undefined);
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return hide();
    const next = stopAfterKey(event.key, index ?? stops.length - 1, stops.length);
    if (next === undefined) return;
    event.preventDefault();
    setIndex(next);
  };
  const now = index ?? stops.length - 1;
  return (
    <>
      {stop !== undefined && <Mark stop={stop} widthPx={widthPx} top={top} bottom={bottom} />}
      <div
        className="chart-cursor"
        role="slider"
        tabIndex={0}
        aria-label={`Values: ${title}`}
        aria-valuemin={1}
        aria-valuemax={stops.length}
        aria-valuenow={now + 1}
        aria-valuetext={textOf(stops[now])}
        onPointerMove={follow}
        onPointerDown={follow}
        onPointerLeave={hide}
        onFocus={() => setIndex((current) => current ?? stops.length - 1)}
        onBlur={hide}
        onKeyDown={move}
      />
      {stop !== undefined && <Readout stop={stop} widthPx={widthPx} top={top} />}
    </>
  );
}

function textOf(stop: CursorStop | undefined): string {
  if (stop === undefined) return '';
  return `${stop.title}. ${stop.values.map(({ name, text }) => `${name}: ${text}`).join(', ')}`;
}

interface MarkProps {
  readonly stop: CursorStop;
  readonly widthPx: number;
  readonly top: number;
  readonly bottom: number;
}

function Mark({ stop, widthPx, top, bottom }: MarkProps): ReactNode {
  const width = Math.max(1, stop.widthPx ?? 1);
  return (
    <svg className="chart-mark" aria-hidden="true" width={widthPx} height={HEIGHT_PX}>
      <rect data-wide={stop.widthPx !== undefined} x={stop.x - width / 2} width={width} y={top} height={bottom - top} />
      {stop.values.map(
        ({ name, tone, y }) => y !== undefined && <circle key={name} data-tone={tone} cx={stop.x} cy={y} r={4} />,
      )}
    </svg>
  );
}

/** Shows the values at a stop, below the label of a marker. */
function Readout({ stop, widthPx, top }: Omit<MarkProps, 'bottom'>): ReactNode {
  const gap = GAP_PX + (stop.widthPx ?? 0) / 2;
  const side = stop.x > widthPx / 2 ? { right: widthPx - stop.x + gap } : { left: stop.x + gap };
  return (
    <div className="chart-readout" style={{ top, ...side }}>
      <p>{stop.title}</p>
      <dl>
        {stop.values.map(({ name, text, tone }) => (
          <div key={name} data-tone={tone}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
