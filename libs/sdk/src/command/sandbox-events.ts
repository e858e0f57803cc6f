/**
 * Reads the sandbox's events page by page, each with one request: `listen` prints a failure before
 * it asks again.
 */
import type { SandboxEvent, SandboxEventList } from '../api-types.ts';
import { LaurelError } from '../errors.ts';
import { Laurel } from '../laurel.ts';
import { CommandError, EXIT_CODES, messageOf } from './command.ts';

/** A page starts after a cursor, or where `from` says. */
export type PageStart = { readonly after: string } | { readonly from: 'now' | 'oldest' };

/**
 * There is no response of Laurel for now. The caller may ask again after `retryAfterMs`, or at any
 * time if that is null.
 */
export class UnavailableError extends Error {
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

export function createClient(baseUrl: string, apiKey: string): Laurel {
  try {
    return new Laurel({ baseUrl, apiKey, maxRetries: 0 });
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

/**
 * Requests one page. Throws an `UnavailableError` if another try may get it, and a `CommandError`
 * if no try can.
 */
export async function fetchPage(laurel: Laurel, start: PageStart, signal: AbortSignal): Promise<SandboxEventList> {
  let page: SandboxEventList;
  try {
    page = await laurel.sandbox.listEvents(start, { signal });
  } catch (error) {
    throw error instanceof LaurelError ? toCommandError(error) : error;
  }
  if (Array.isArray(page?.data) && isText(page.next_cursor) && page.data.every(isEvent)) return page;
  throw notOfLaurel('JSON of another kind');
}

/**
 * Whether an event has all members that `listen` forwards and stores. An event without a cursor
 * would damage the cursor file.
 */
function isEvent(event: Partial<Record<keyof SandboxEvent, unknown>> | null): boolean {
  return [event?.id, event?.event, event?.body, event?.cursor].every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function toCommandError(error: LaurelError): Error {
  const { code, status, retryAfterMs = null } = error;
  if (status === undefined)
    return new UnavailableError(`Laurel could not be reached (${messageOf(error.cause ?? error)})`, null);
  if (code === 'network') return notOfLaurel(`status ${status}`);
  if (status === 429 || status >= 500) return new UnavailableError(`Laurel answered ${status}`, retryAfterMs);
  const because = status === 401 ? 'LAUREL_API_KEY is not a test key that this host accepts' : error.message;
  return new CommandError(`Laurel refused with ${status}: ${because}`, EXIT_CODES.refused);
}

/**
 * The response is not Laurel's: it comes from a load balancer while Laurel is deployed, or is a
 * network's sign-in page. So a waiting time in it is ignored.
 */
function notOfLaurel(answer: string): UnavailableError {
  return new UnavailableError(`Something other than Laurel answered (${answer}); is LAUREL_BASE_URL right?`, null);
}
