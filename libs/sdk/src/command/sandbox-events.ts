/** Reads the events of a sandbox page by page, each with one request: `listen` prints a failure before it asks again. */
import type { SandboxEventList } from '../api-types.ts';
import { LaurelError } from '../errors.ts';
import { Laurel } from '../laurel.ts';
import { CommandError, EXIT_CODES, messageOf } from './command.ts';

/** After a cursor; or where to begin. */
export type PageStart = { readonly after: string } | { readonly from: 'now' | 'oldest' };

/** The answer is not there for now: ask again after this time, or when it suits, where it is null. */
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

/** Throws an `UnavailableError` for what another try may get, and a `CommandError` for what it will not. */
export async function fetchPage(laurel: Laurel, start: PageStart, signal: AbortSignal): Promise<SandboxEventList> {
  try {
    return await laurel.sandbox.listEvents(start, { signal });
  } catch (error) {
    throw error instanceof LaurelError ? toCommandError(error) : error;
  }
}

function toCommandError(error: LaurelError): Error {
  const { status, retryAfterMs = null } = error;
  if (status === undefined)
    return new UnavailableError(`Laurel could not be reached (${messageOf(error.cause ?? error)})`, null);
  if (status === 429 || status >= 500) return new UnavailableError(`Laurel answered ${status}`, retryAfterMs);
  const because = status === 401 ? 'LAUREL_API_KEY is not a test key that this host accepts' : error.message;
  return new CommandError(`Laurel refused with ${status}: ${because}`, EXIT_CODES.refused);
}
