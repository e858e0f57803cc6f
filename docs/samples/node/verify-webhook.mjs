// Verifies a webhook of Laurel over the raw bytes of its body, before anything parses them.
import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_S = 300;

/** The request is not a webhook of Laurel, or not a recent one: answer 400 and do nothing. */
export class WebhookRefused extends Error {}

/**
 * Throws WebhookRefused unless one of the secrets signed this delivery within five minutes.
 *
 * `secrets` are the endpoint's signing secret, as shown; both while it is replaced.
 * `id`, `timestamp` and `signatures` are the headers webhook-id, webhook-timestamp and
 * webhook-signature, or undefined. `body` is a Buffer of the bytes that arrived.
 */
export function verifyWebhook(secrets, id, timestamp, signatures, body) {
  if (secrets.length === 0) throw new TypeError('a signing secret is missing');
  if (!id || !timestamp || !signatures) throw new WebhookRefused('header_missing');
  let isSigned = false;
  for (const secret of secrets) {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
    // The header may hold several signatures. Each is compared, in constant time.
    for (const signature of signatures.split(' ')) {
      if (isEqual(`v1,${digest}`, signature)) isSigned = true;
    }
  }
  if (!isSigned) throw new WebhookRefused('signature_mismatch');
  // The time of this try, which is signed: a request that was captured is useless later.
  const isRecent = /^\d+$/.test(timestamp) && Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_S;
  if (!isRecent) throw new WebhookRefused('timestamp_out_of_tolerance');
}

function isEqual(expected, given) {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
