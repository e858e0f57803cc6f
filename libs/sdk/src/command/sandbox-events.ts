/** Reads the events of a sandbox page by page (`GET /api/sandbox/events`). */
import { CommandError, EXIT_CODES, messageOf } from './command.ts';

export interface SandboxEvent {
  readonly id: string;
  readonly event: string;
  /** The signed bytes of a webhook, as text. */
  readonly body: string;
  /** The cursor after this event. */
  readonly cursor: string;
}

export interface EventPage {
  /** Oldest first; empty where nothing is new. */
  readonly data: readonly SandboxEvent[];
  readonly next_cursor: string;
}

/** After a cursor; or where to begin. */
export type PageStart = { readonly after: string } | { readonly from: 'now' | 'oldest' };

const TIMEOUT_MS = 10_000;

/** The answer is not there for now: ask again after this time, or when it suits, where it is null. */
export class UnavailableError extends Error {
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Throws an `UnavailableError` for what another try may get, and a `CommandError` for what it will not. */
export async function fetchPage(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  start: PageStart,
  signal: AbortSignal,
): Promise<EventPage> {
  const response = await request(`${baseUrl}/api/sandbox/events?${new URLSearchParams(start)}`, apiKey, signal);
  if (response.status === 200) return response.body as EventPage;
  const { error, retry_after: retryAfter } = response.body as { error?: { message?: string }; retry_after?: number };
  if (response.status === 429 || response.status >= 500) {
    const retryAfterMs = typeof retryAfter === 'number' ? retryAfter * 1_000 : null;
    throw new UnavailableError(`Laurel answered ${response.status}`, retryAfterMs);
  }
  const because = response.status === 401 ? 'LAUREL_API_KEY is not a test key that this host accepts' : error?.message;
  throw new CommandError(
    `Laurel refused with ${response.status}: ${because ?? 'no reason was given'}`,
    EXIT_CODES.refused,
  );
}

async function request(url: string, apiKey: string, signal: AbortSignal): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, {
      headers: { 'x-api-key': apiKey },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const text = await response.text();
    return { status: response.status, body: isJson(response) ? JSON.parse(text) : {} };
  } catch (error) {
    throw new UnavailableError(`Laurel could not be reached (${messageOf(error)})`);
  }
}

function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/json') ?? false;
}
