/**
 * `Retry-After` of a partner (RFC 9110, 10.2.3): seconds, or an HTTP date. A poll that is answered 429 or 503 waits that long, an hour at
 * most, and never less than its interval. Anything else in the header says nothing.
 */

const LONGEST_WAIT_MS = 3_600_000;

const SECONDS = /^\d+$/;
/** The three forms of an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`, and the obsolete ones of RFC 850 and of asctime. */
const DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** When the partner may be asked again; null where it asks for no wait. Of a header that was sent twice the longer wait counts. */
export function retryAtOf(header: string | readonly string[] | undefined, now: Date): Date | null {
  const waits = [header ?? []].flat().map((text) => waitMsOf(text.trim(), now));
  const waitMs = Math.min(Math.max(0, ...waits), LONGEST_WAIT_MS);
  return waitMs === 0 ? null : new Date(now.getTime() + waitMs);
}

function waitMsOf(text: string, now: Date): number {
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!DATES.some((form) => form.test(text))) return 0;
  // Without a zone, as asctime writes it, a date would be read as local time.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? 0 : at - now.getTime();
}
