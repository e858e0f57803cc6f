// Sends a request to Laurel until it is answered. Every try sends the same bytes and headers.
// Only for requests that take effect once however often they arrive: those with an
// Idempotency-Key, and pushed outcomes.
import { setTimeout as sleep } from 'node:timers/promises';

const TRY_TIMEOUT_MS = 10_000;
// Longer than the 60 seconds for which a request that died keeps its key in progress.
export const DEADLINE_MS = 120_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;

/** Laurel refused the request and nothing was charged. The same request is refused again. */
export class Refused extends Error {
  constructor(status, code) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

/** Laurel may have acted. Send the same request again later, with the same key. */
export class Unanswered extends Error {}

/** Returns the text of a success; a replayed answer is one. */
export async function sendUntilAnswered(url, headers, body, deadlineMs = DEADLINE_MS) {
  const deadline = performance.now() + deadlineMs;
  let longestDelayMs = FIRST_DELAY_MS;
  for (;;) {
    let failure;
    let retryAfterMs = 0;
    try {
      const answer = await post(url, headers, body);
      if (answer.status >= 200 && answer.status < 300) return answer.text;
      const code = codeOf(answer.text);
      if (!isRepeated(answer.status, code)) throw new Refused(answer.status, code);
      failure = `${answer.status} ${code}`;
      retryAfterMs = 1_000 * secondsOf(answer.retryAfter);
    } catch (error) {
      if (error instanceof Refused) throw error;
      failure = String(error.cause ?? error);
    }
    // Jitter keeps servers that failed together from returning together.
    const delayMs = retryAfterMs + Math.random() * longestDelayMs;
    if (performance.now() + delayMs >= deadline) throw new Unanswered(failure);
    await sleep(delayMs);
    longestDelayMs = Math.min(LONGEST_DELAY_MS, 2 * longestDelayMs);
  }
}

/** One try. It follows no redirect, and an answer that ends too early rejects. */
async function post(url, headers, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(TRY_TIMEOUT_MS),
  });
  return { status: response.status, retryAfter: response.headers.get('Retry-After'), text: await response.text() };
}

function isRepeated(status, code) {
  return status === 429 || status >= 500 || (status === 409 && code === 'idempotency_in_progress');
}

/** The `error.code` of a refusal. The 429 has a body of another shape, and a proxy has none. */
function codeOf(text) {
  try {
    return JSON.parse(text).error?.code ?? '';
  } catch {
    return '';
  }
}

function secondsOf(retryAfter) {
  return /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
}
