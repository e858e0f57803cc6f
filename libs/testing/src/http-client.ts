import { parseJson } from '@laurel/json';
import { Agent, request } from 'undici';

/** One response as received; status 0 means that the connection ended without one. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body byte for byte. */
  readonly text: string;
  /** The parsed body of the response that the caller expects; check `status` first. */
  readonly body: Body;
  /** The code of an error envelope, or of the retired route's flat body. */
  readonly code: string | undefined;
}

/** One request of a client with its response. */
export interface JournalEntry {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | undefined;
  readonly sent: string | undefined;
  readonly answer: Answer<unknown>;
}

export interface HttpClientOptions {
  /** `http://127.0.0.1:8080`, or several, used in turn. */
  readonly baseUrl: string | readonly string[];
  /**
   * Called with every entry before the caller gets the response. If `onAnswer` throws, the caller
   * gets the error.
   */
  readonly onAnswer?: (entry: JournalEntry) => void | Promise<void>;
  readonly connections?: number;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Buffer;
}

export interface HttpClient extends AsyncDisposable {
  /** All requests so far, in the order of their responses. */
  readonly journal: readonly JournalEntry[];
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
}

/**
 * The HTTP client of operators and partners in tests. It sends a request once, records the response
 * and passes it to `onAnswer`. It never retries.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const baseUrls = typeof options.baseUrl === 'string' ? [options.baseUrl] : options.baseUrl;
  const agent = new Agent({ connections: options.connections ?? 64, keepAliveTimeout: 4_000, headersTimeout: 90_000 });
  const journal: JournalEntry[] = [];
  let turn = 0;
  return {
    journal,
    async send<Body>(method: string, path: string, sendOptions: SendOptions = {}): Promise<Answer<Body>> {
      const baseUrl = baseUrls[turn++ % baseUrls.length] ?? '';
      const sent = sendOptions.raw ?? (sendOptions.body === undefined ? undefined : JSON.stringify(sendOptions.body));
      const headers: Record<string, string> = {
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...sendOptions.headers,
      };
      const answer = await sendRequest<Body>(agent, baseUrl + path, method, headers, sent);
      const entry: JournalEntry = {
        method,
        path,
        headers,
        idempotencyKey: headers['idempotency-key'],
        sent: sent?.toString(),
        answer,
      };
      journal.push(entry);
      await options.onAnswer?.(entry);
      return answer;
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

async function sendRequest<Body>(
  agent: Agent,
  url: string,
  method: string,
  headers: Record<string, string>,
  sent: string | Buffer | undefined,
): Promise<Answer<Body>> {
  try {
    const response = await request(url, { dispatcher: agent, method, headers, body: sent ?? null });
    const text = await response.body.text();
    const flat: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) flat[name] = String(value);
    const body = parse(text);
    return { status: response.statusCode, headers: flat, text, body: body as Body, code: codeOf(body) };
  } catch (error) {
    if (!isLost(error)) throw error;
    return { status: 0, headers: {}, text: '', body: undefined as Body, code: undefined };
  }
}

/** Whether the peer was down, or went down before it responded. */
function isLost(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? '';
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code);
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function codeOf(body: unknown): string | undefined {
  const { error, code } = (body ?? {}) as { error?: { code?: string } | string; code?: string };
  return typeof error === 'object' ? error.code : code;
}
