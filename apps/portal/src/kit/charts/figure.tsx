/**
 * What all charts share: a caption, a picture as wide as its place, and the table behind it. With
 * `words` in place of points, a chart says why there is too little to draw.
 */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';

export const HEIGHT_PX = 200;
export const MARGIN = { top: 12, right: 12, bottom: 26, left: 52 } as const;
const FIRST_WIDTH_PX = 600;

interface ChartFigureProps {
  readonly title: string;
  /** One sentence with what the picture shows, for who cannot see it. */
  readonly summary: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ReactNode[])[];
  /** Draws into the given width. */
  readonly draw: (widthPx: number) => ReactNode;
  readonly legend?: ReactNode;
}

export function ChartFigure({ title, summary, columns, rows, draw, legend }: ChartFigureProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const caption = useId();
  const width = useWidth(place);
  return (
    <figure className="chart" aria-labelledby={caption}>
      <figcaption id={caption}>{title}</figcaption>
      {legend}
      <div ref={place} className="chart-place">
        <svg role="img" aria-label={summary} width={width} height={HEIGHT_PX} viewBox={`0 0 ${width} ${HEIGHT_PX}`}>
          {draw(width)}
        </svg>
      </div>
      <details>
        <summary>Show as a table</summary>
        <table className="chart-table">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a picture have no identity.
              <tr key={row}>
                {cells.map((cell, column) => (
                  <td key={columns[column]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** `<TooLittle title="Scores">At least 20 scores are needed; there are 3.</TooLittle>`. */
export function TooLittle({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="chart too-little">
      <p className="chart-title">{title}</p>
      <p className="muted">{children}</p>
    </div>
  );
}

export interface LegendEntry {
  readonly name: string;
  readonly tone: string;
}

export function Legend({ entries }: { readonly entries: readonly LegendEntry[] }): ReactNode {
  return (
    <ul className="legend">
      {entries.map(({ name, tone }) => (
        <li key={name} data-tone={tone}>
          {name}
        </li>
      ))}
    </ul>
  );
}

interface AxisProps {
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  readonly widthPx: number;
}

/** Horizontal lines with their values at the left. */
export function ValueAxis({ ticks, widthPx }: AxisProps): ReactNode {
  return (
    <g className="axis">
      {ticks.map(({ at, text }) => (
        <g key={text}>
          <line x1={MARGIN.left} x2={widthPx - MARGIN.right} y1={at} y2={at} />
          <text x={MARGIN.left - 6} y={at} dy="0.32em" textAnchor="end">
            {text}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Labels below the picture. */
export function BottomAxis({ ticks }: Pick<AxisProps, 'ticks'>): ReactNode {
  return (
    <g className="axis">
      {ticks.map(({ at, text }) => (
        <text key={`${at} ${text}`} x={at} y={HEIGHT_PX - 8} textAnchor="middle">
          {text}
        </text>
      ))}
    </g>
  );
}

function useWidth(place: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(FIRST_WIDTH_PX);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(160, Math.floor(entry.contentRect.width)));
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [place]);
  return width;
}
