// Pushes outcomes to an integration of Laurel, signed.
import { createHmac } from 'node:crypto';
import { DEADLINE_MS, sendUntilAnswered } from './send.mjs';

/**
 * Returns the value of X-Service-Signature for exactly these bytes. The key is the text of the
 * secret as Laurel showed it, not the bytes that its digits spell.
 */
export function signPush(secret, body) {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Returns Laurel's answer as JSON text. An outcome that has settled stays settled, once. */
export function pushOutcomes(baseUrl, integrationId, secret, body, deadlineMs = DEADLINE_MS) {
  const url = `${baseUrl}/webhooks/integrations/${integrationId}/outcome`;
  return sendUntilAnswered(url, { 'X-Service-Signature': signPush(secret, body) }, body, deadlineMs);
}
