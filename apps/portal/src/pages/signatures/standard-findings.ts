/** The findings about `webhook-signature`, the form of Standard Webhooks. */
import { variantsOf } from './body-variants.ts';
import type { Finding } from './findings.ts';
import { signStandardly } from './hmac.ts';
import { type HeaderValues, STANDARD_HEADERS } from './read-headers.ts';

const TOLERANCE_S = 300;
const SECONDS = /^\d{10}$/;

/** Checks the header; an absent header gives no findings. */
export async function standardFindings(
  body: string,
  headers: HeaderValues,
  secrets: readonly string[],
  now: number,
): Promise<readonly Finding[]> {
  const [value, id, timestamp] = [
    headers.get(STANDARD_HEADERS.signature),
    headers.get(STANDARD_HEADERS.id),
    headers.get(STANDARD_HEADERS.timestamp),
  ].map((values) => values?.[0]?.trim());
  if (value === undefined) return [];
  const signatures = value.split(' ').filter((one) => one !== '');
  if (!signatures.some((one) => /^v1,[A-Za-z0-9+/]{43}=$/.test(one))) {
    const isHex = value.startsWith('sha256=');
    return [{ code: 'standard_malformed', ...(isHex && { detail: 'This is the value of X-Webhook-Signature.' }) }];
  }
  const missing = missingOf(id, timestamp);
  if (missing !== undefined || id === undefined || timestamp === undefined)
    return [{ code: 'standard_header_missing', detail: `There is no ${missing}.` }];
  const isSignedAt = async (seconds: string, text = body) => {
    const expected = await Promise.all(secrets.map((secret) => signStandardly(secret.trim(), id, seconds, text)));
    return expected.some((one) => one !== undefined && signatures.includes(one));
  };
  if (!SECONDS.test(timestamp)) {
    const seconds = secondsOf(timestamp);
    const fits = seconds !== undefined && (await isSignedAt(seconds));
    return [{ code: 'timestamp_malformed', ...(fits && { detail: `As ${seconds} it fits.` }) }];
  }
  if (!(await isSignedAt(timestamp))) {
    for (const variant of variantsOf(body)) {
      if (await isSignedAt(timestamp, variant.body)) return [{ code: variant.code }];
    }
    return [{ code: 'standard_mismatch' }];
  }
  const isOld = Math.abs(now / 1_000 - Number(timestamp)) > TOLERANCE_S;
  return [{ code: 'standard_genuine' }, ...(isOld ? [{ code: 'timestamp_old' } as const] : [])];
}

function missingOf(id: string | undefined, timestamp: string | undefined): string | undefined {
  if (!id) return STANDARD_HEADERS.id;
  return timestamp ? undefined : STANDARD_HEADERS.timestamp;
}

/** Reads milliseconds, or a date as text. */
function secondsOf(timestamp: string): string | undefined {
  if (/^\d{13}$/.test(timestamp)) return timestamp.slice(0, 10);
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? undefined : String(Math.floor(ms / 1_000));
}
