// Creates an attempt and charges its fee exactly once, over a network that loses answers.
import { DEADLINE_MS, sendUntilAnswered } from './send.mjs';

/**
 * Returns the attempt as JSON text. `body` is the request as JSON text.
 *
 * `idempotencyKey` belongs to one game start. Choose it and store it with the match before the
 * first call. Call again with the same key and body after `Unanswered` or a crash, and within 24
 * hours: a new key, or one that is older, would charge the player again.
 */
export function createAttempt(baseUrl, apiKey, idempotencyKey, body, deadlineMs = DEADLINE_MS) {
  const headers = { 'X-API-Key': apiKey, 'Idempotency-Key': idempotencyKey };
  return sendUntilAnswered(`${baseUrl}/v1/attempts`, headers, body, deadlineMs);
}
