/**
 * Calls the routes of these pages on the same origin: `/api/portal` from `/portal`, `/api/operator`
 * from `/operator`. The session is a cookie that no script can read.
 */
import { FailedCall, type Failure, readFailure } from './failure.ts';
import { endSession, noteAccepted } from './session.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** Parameters that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

export type Result<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly failure: Failure };

/**
 * A body that is JSON already, as a developer wrote it: every digit of its numbers and the order of
 * its members reach Laurel.
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface CallOptions {
  readonly query?: Query;
  /** The body is any value, or a `JsonText`. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** The limit for a call that may take long. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/** `/api/portal/`: Vite puts the base of the pages here. */
const API = `/api${import.meta.env.BASE_URL}`;

/**
 * Calls a route, as `call<Program>('get', '/programs/...')`. A 401 also shows the screen of a lost
 * session.
 */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<Result<T>> {
  return noteSession(await callWithoutSession<T>(method, path, options));
}

function noteSession<T>(result: Result<T>): Result<T> {
  if (result.ok) noteAccepted();
  else if (result.failure.kind === 'session-ended') endSession();
  return result;
}

/** Calls a route of sign-in, whose 401 is a wrong password, a wrong token or an old link. */
export async function callWithoutSession<T>(method: Method, path: string, options: CallOptions): Promise<Result<T>> {
  return send(method, path, options, (text) => (text === '' ? undefined : JSON.parse(text)) as T);
}

async function send<T>(
  method: Method,
  path: string,
  { query = {}, body, signal, timeoutMs = TIMEOUT_MS }: CallOptions,
  parseAnswer: (text: string) => T,
): Promise<Result<T>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(addressOf(path, query), {
      method: method.toUpperCase(),
      credentials: 'same-origin',
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? null : body instanceof JsonText ? body.text : JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const text = await response.text();
    if (response.ok) return { ok: true, data: parseAnswer(text) };
    return { ok: false, failure: readFailure(response.status, response.headers, parse(text)) };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ok: false, failure: { kind: 'unreachable' } };
  }
}

/** Calls a route for TanStack Query: throws a `FailedCall`. */
export async function read<T>(path: string, options: CallOptions): Promise<T> {
  const result = await call<T>('get', path, options);
  if (!result.ok) throw new FailedCall(result.failure);
  return result.data;
}

/**
 * Reads a route as the exact text that was sent. `JSON.parse` would lose the bytes that a signature
 * covers.
 */
export async function readText(path: string, query: Query, signal: AbortSignal): Promise<string> {
  const result = noteSession(await send('get', path, { query, signal }, (text) => text));
  if (!result.ok) throw new FailedCall(result.failure);
  return result.data;
}

export function addressOf(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  return `${API}${path.slice(1)}${parameters.size === 0 ? '' : `?${parameters}`}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
