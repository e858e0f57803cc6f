/** Where the parts of a chart stand, in pixels. Nothing here draws. */

export const HEIGHT_PX = 220;
const TOP_PX = 12;
/** The height above the plot, for the label of a marker. */
const MARKER_ROW_PX = 20;
const RIGHT_PX = 14;
/** The space below the plot holds the labels and the name of the axis. */
const BOTTOM_PX = 40;
const MIN_LEFT_PX = 30;
const LABEL_GAP_PX = 10;
/** The greatest width of a character of an axis. */
const CHARACTER_PX = 7;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;

/** The plot inside the picture. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Leaves room at the left for the longest label of the values. */
export function frameOf(widthPx: number, valueLabels: readonly string[], hasMarker = false): Frame {
  const longest = Math.max(0, ...valueLabels.map(textWidthPx));
  return {
    left: Math.min(Math.max(MIN_LEFT_PX, longest + LABEL_GAP_PX), widthPx / 3),
    right: widthPx - RIGHT_PX,
    top: TOP_PX + (hasMarker ? MARKER_ROW_PX : 0),
    bottom: HEIGHT_PX - BOTTOM_PX,
  };
}

export function textWidthPx(text: string): number {
  return [...text].length * CHARACTER_PX;
}

/** The centre of a text that belongs at `at`, moved so that the text stays in the picture. */
export function centreOfTextWithin(at: number, text: string, widthPx: number): number {
  const half = textWidthPx(text) / 2;
  return half * 2 >= widthPx ? widthPx / 2 : Math.min(Math.max(at, half), widthPx - half);
}

/**
 * Every n-th tick, with the least n for which no two labels touch. The labels are inside the
 * picture.
 */
export function spacedTicks(ticks: readonly Tick[], widthPx: number): readonly Tick[] {
  for (let every = 1; every < ticks.length; every += 1) {
    const shown = ticks.filter((_tick, index) => index % every === 0).map((tick) => inside(tick, widthPx));
    if (shown.every((tick, index) => index === 0 || areApart(shown[index - 1] ?? tick, tick))) return shown;
  }
  return ticks.slice(0, 1).map((tick) => inside(tick, widthPx));
}

function inside({ at, text }: Tick, widthPx: number): Tick {
  return { at: centreOfTextWithin(at, text, widthPx), text };
}

function areApart(one: Tick, next: Tick): boolean {
  return next.at - one.at >= (textWidthPx(one.text) + textWidthPx(next.text)) / 2 + LABEL_GAP_PX;
}

/** A domain that is never empty: around one value it has some room on both sides. */
export function domainOf(values: readonly number[]): readonly [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (low < high) return [low, high];
  const room = Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

/** The index of the stop that is nearest to a position; -1 without stops. */
export function nearestStop(stops: readonly { readonly x: number }[], x: number): number {
  let nearest = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, stop] of stops.entries()) {
    const distance = Math.abs(stop.x - x);
    if (distance >= least) continue;
    least = distance;
    nearest = index;
  }
  return nearest;
}

/** The stop to which a key moves, or undefined for another key. */
export function stopAfterKey(key: string, index: number, count: number): number | undefined {
  const last = count - 1;
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(index + 1, last);
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(index - 1, 0);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return undefined;
}

/** The lower and upper end of each part of a stack of counts. */
export function stackOf(values: readonly number[]): readonly (readonly [number, number])[] {
  let sum = 0;
  return values.map((value) => {
    const low = sum;
    sum += value;
    return [low, sum] as const;
  });
}

/** A label of a time axis in UTC: as exact as its span needs, and the day where a day begins. */
export function timeLabel(atMs: number, spanMs: number): string {
  const at = new Date(atMs);
  const time = at.toISOString().slice(11);
  if (spanMs > YEAR_MS) return format(at, { month: 'short', year: 'numeric' });
  if (spanMs > 3 * DAY_MS || time.startsWith('00:00:00.000')) return format(at, { day: 'numeric', month: 'short' });
  if (spanMs > 3 * MINUTE_MS) return time.slice(0, 5);
  return spanMs > 3_000 ? time.slice(0, 8) : time.slice(0, 12);
}

function format(at: Date, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }).format(at);
}
