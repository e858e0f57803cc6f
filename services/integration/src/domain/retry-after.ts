/**
 * A partner's `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date. After a 429 or 503 the
 * next poll waits that long, at most an hour, and never less than the interval. Any other value is
 * ignored.
 */

const LONGEST_WAIT_MS = 3_600_000;

const SECONDS = /^\d+$/;
/**
 * The three forms of an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`, and the obsolete ones of RFC
 * 850 and of asctime.
 */
const DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * When to request again; null if the partner asks for no wait. If the header was sent twice, the
 * longer wait counts.
 */
export function retryAtOf(header: string | readonly string[] | undefined, now: Date): Date | null {
  const waits = [header ?? []].flat().map((text) => waitMsOf(text.trim(), now));
  const waitMs = Math.min(Math.max(0, ...waits), LONGEST_WAIT_MS);
  return waitMs === 0 ? null : new Date(now.getTime() + waitMs);
}

function waitMsOf(text: string, now: Date): number {
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!DATES.some((form) => form.test(text))) return 0;
  // asctime writes no zone, and a date without one would be read as local time.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? 0 : at - now.getTime();
}
