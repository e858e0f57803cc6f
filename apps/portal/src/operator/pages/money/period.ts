/**
 * The periods of money: UTC days. A week is the 7 days that end with a day, a month is the calendar
 * month of a day.
 */
export const PERIODS = ['day', 'week', 'month'] as const;
export type PeriodName = (typeof PERIODS)[number];

export interface Period {
  /** The first and the last day, as `2026-11-26`. */
  readonly from: string;
  readonly to: string;
  /** A day of the previous period. */
  readonly before: string;
  /** A day of the next period; undefined if that period has not begun. */
  readonly after: string | undefined;
}

const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Whether the text is a day of the calendar. */
export function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(Date.parse(text)) && plusDays(text, 0) === text;
}

/** The UTC day of an instant. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

export function periodOf(name: PeriodName, day: string, today: string): Period {
  const { from, to } = daysOf(name, day);
  const next = name === 'week' ? plusDays(day, DAYS_OF_WEEK) : plusDays(to, 1);
  // A week that has not ended yet ends with today.
  const isBegun = to < today;
  return { from, to, before: plusDays(from, -1), after: isBegun ? (next < today ? next : today) : undefined };
}

/** Every day of the period that has begun, oldest first. */
export function daysUntil(today: string, { from, to }: Pick<Period, 'from' | 'to'>): readonly string[] {
  const last = to < today ? to : today;
  const days: string[] = [];
  for (let day = from; day <= last; day = plusDays(day, 1)) days.push(day);
  return days;
}

function daysOf(name: PeriodName, day: string): { readonly from: string; readonly to: string } {
  if (name === 'day') return { from: day, to: day };
  if (name === 'week') return { from: plusDays(day, 1 - DAYS_OF_WEEK), to: day };
  const [year = 0, month = 1] = day.split('-').map(Number);
  return { from: `${day.slice(0, 8)}01`, to: dayOf(Date.UTC(year, month, 0)) };
}

function plusDays(day: string, days: number): string {
  return dayOf(Date.parse(day) + days * DAY_MS);
}
