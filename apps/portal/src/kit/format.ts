/** How times, money and counts read. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Older times read better as a date. */
const RELATIVE_DAYS = 7;

const LANGUAGE = 'en';
const day = new Intl.DateTimeFormat(LANGUAGE, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const local = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeStyle: 'long' });
const count = new Intl.NumberFormat(LANGUAGE);
const score = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 4 });

/** "now", "12 s ago", "in 5 min", "3 h ago", "6 d ago", "21 Nov 2026". */
export function relativeTime(at: string, now: number): string {
  const ms = now - Date.parse(at);
  const size = Math.abs(ms);
  if (size < 1_000) return 'now';
  if (size >= RELATIVE_DAYS * DAY_MS) return day.format(new Date(at));
  const text = duration(size);
  return ms < 0 ? `in ${text}` : `${text} ago`;
}

function duration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1_000)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** "2026-11-21 12:00:00.000 UTC". */
export function utcTime(at: string): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

/** In the time zone of the browser: "Nov 21, 2026, 1:00:00 PM GMT+1". */
export function localTime(at: string): string {
  return local.format(new Date(at));
}

/** "$1,234.50" for "1234.50", and "−$5.00" for "-5.00". Never through a JavaScript number. */
export function money(amount: string): string {
  const [, minus = '', whole = '', cents = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') return amount;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${minus === '' ? '' : '−'}$${grouped}.${cents.padEnd(2, '0')}`;
}

/** "12,345". */
export function formatCount(value: number): string {
  return count.format(value);
}

/** At most four digits after the point. */
export function formatScore(value: number): string {
  return score.format(value);
}

/** "12.5 %" for 0.125. */
export function formatShare(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** "820 ms", "1.2 s". */
export function formatDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** "payout_held" -> "payout held". */
export function words(value: string): string {
  return value.replaceAll('_', ' ');
}
