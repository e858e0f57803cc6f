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

/** Shows an instant as "2026-11-21 12:00:00.000 UTC". */
export function utcTime(at: string): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

/** Shows an instant in the time zone of the browser: "Nov 21, 2026, 1:00:00 PM GMT+1". */
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

/** Shows a count as "12,345". */
export function formatCount(value: number): string {
  return count.format(value);
}

/** Shows a score with at most four digits after the point. */
export function formatScore(value: number): string {
  return score.format(value);
}

/** "12.5 %" for 0.125. */
export function formatShare(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** "820 ms", "1.2 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  const rounded = Math.round(ms / 1_000) * 1_000;
  if (rounded < MINUTE_MS) return `${(ms / 1_000).toFixed(1)} s`;
  const units = [
    { name: 'd', size: DAY_MS },
    { name: 'h', size: HOUR_MS },
    { name: 'min', size: MINUTE_MS },
    { name: 's', size: 1_000 },
  ];
  const first = units.findIndex(({ size }) => rounded >= size);
  let rest = rounded;
  const parts = units.slice(first, first + 2).map(({ name, size }) => {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    return whole === 0 ? '' : `${whole} ${name}`;
  });
  return parts.filter((part) => part !== '').join(' ');
}

/** Shows both ends of an id, because ids of one day begin alike. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 4)}…${id.slice(-8)}`;
}

/** "payout_held" -> "payout held". */
export function words(value: string): string {
  return value.replaceAll('_', ' ');
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
