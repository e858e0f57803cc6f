/**
 * The frame that all charts share: a caption, a picture that fills the available width and has a
 * cursor, and the same data as a table. `TooLittle` stands in its place if there is too little to
 * draw.
 */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Cursor, type CursorStop } from './cursor.tsx';
import { type Frame, HEIGHT_PX } from './geometry.ts';
import '../../styles/charts.css';

const FIRST_WIDTH_PX = 600;
const MIN_WIDTH_PX = 160;

export interface Drawing {
  readonly frame: Frame;
  readonly marks: ReactNode;
  /** The stops go from left to right; there is at least one. */
  readonly stops: readonly CursorStop[];
}

interface ChartFigureProps {
  readonly title: string;
  /** What the picture shows, for people who cannot see it. */
  readonly summary: string;
  /** The note below the picture is for all readers. */
  readonly note?: ReactNode;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ReactNode[])[];
  /** Draws into the given width. */
  readonly draw: (widthPx: number) => Drawing;
  readonly legend?: ReactNode;
}

export function ChartFigure({ title, summary, note, columns, rows, draw, legend }: ChartFigureProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const caption = useId();
  const width = useWidth(place);
  const { frame, marks, stops } = draw(width);
  return (
    <figure className="chart" aria-labelledby={caption}>
      <figcaption id={caption}>{title}</figcaption>
      {legend}
      <div ref={place} className="chart-place">
        <svg role="img" aria-label={summary} width={width} height={HEIGHT_PX} viewBox={`0 0 ${width} ${HEIGHT_PX}`}>
          {marks}
        </svg>
        <Cursor title={title} stops={stops} widthPx={width} top={frame.top} bottom={frame.bottom} />
      </div>
      {note !== undefined && <p className="chart-note">{note}</p>}
      <details>
        <summary>Show as a table</summary>
        <DataTable title={title} columns={columns} rows={rows} />
      </details>
    </figure>
  );
}

function DataTable({ title, columns, rows }: Pick<ChartFigureProps, 'title' | 'columns' | 'rows'>): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls is scrolled by keyboard.
    <section className="chart-scroll" aria-label={`${title}, as a table`} tabIndex={0}>
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
    </section>
  );
}

/** `<TooLittle title="Scores">At least 20 scores are needed; there are 3.</TooLittle>`. */
export function TooLittle({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="chart too-little">
      <h3 className="chart-title">{title}</h3>
      <p className="muted">{children}</p>
    </div>
  );
}

export interface LegendEntry {
  readonly name: string;
  /** A tone of `Status`, `reference` for a dashed line, or `area` for the side of a marker. */
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

function useWidth(place: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(FIRST_WIDTH_PX);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(MIN_WIDTH_PX, Math.floor(entry.contentRect.width)));
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [place]);
  return width;
}
