import { errorOfAnswer, LaurelBrowserError } from './errors.ts';

/** Any value that `new Headers` takes. */
type HeaderSource = NonNullable<ConstructorParameters<typeof Headers>[0]>;

export interface InitOptions {
  /**
   * Where the partner's server mounts `createPlayerHandler`, on the page's own origin: `/laurel`.
   */
  readonly endpoint: string;
  /**
   * Who is signed in: your own id that each player always has and no other player has. It is part
   * of the key in `storage`, is not sent, and separates the arms of players. Call `init` again when
   * another player signs in.
   */
  readonly player?: string;
  /**
   * The headers are sent with every request; a function is called each time, for a token that is
   * renewed.
   */
  readonly headers?: HeaderSource | (() => HeaderSource | Promise<HeaderSource>);
  /** The page's `fetch` by default. */
  readonly fetch?: typeof fetch;
  /**
   * Keeps the arm over a reload; the tab's `sessionStorage` by default. It must belong to one tab:
   * in storage that tabs share, such as `localStorage`, one tab's arm would replace another's,
   * which may have been paid for.
   */
  readonly storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
}

export interface Transport {
  /** Rejects if the response is not what was requested: an intermediary's page may be JSON too. */
  send<Body>(method: 'GET' | 'POST', path: string, options: SendOptions<Body>): Promise<Body>;
}

interface SendOptions<Body> {
  readonly isBody: (answer: object) => answer is Body & object;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  /**
   * This is called when the headers are known, directly before the request; nothing is sent if it
   * throws.
   */
  readonly onSend?: () => void;
}

const TIMEOUT_MS = 30_000;
const SERVER_KEY = /sk_(test|live)_/;

/** Throws a `TypeError` if an option contains a server key. */
export function createTransport(options: InitOptions): Transport {
  const { headers = {}, fetch: ask = (...request) => fetch(...request), storage, ...others } = options;
  refuseServerKey([others, typeof headers === 'object' && [...new Headers(headers)]]);
  return {
    async send<Body>(
      method: 'GET' | 'POST',
      path: string,
      { isBody, body, signal, onSend }: SendOptions<Body>,
    ): Promise<Body> {
      const own = typeof headers === 'function' ? await headersOf(headers) : new Headers(headers);
      refuseServerKey([...own]);
      if (body) own.set('content-type', 'application/json');
      onSend?.();
      const limit = AbortSignal.timeout(TIMEOUT_MS);
      let status = 0;
      let text: string;
      try {
        const response = await ask(`${options.endpoint}/${path}`, {
          method,
          headers: own,
          cache: 'no-store',
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
          ...(body && { body: JSON.stringify(body) }),
        });
        status = response.status;
        text = await response.text();
      } catch {
        signal?.throwIfAborted();
        throw new LaurelBrowserError('network', 'The game server did not answer.');
      }
      const answer = parseJson(text);
      if (status < 200 || status > 299 || !isObject(answer) || !isBody(answer)) throw errorOfAnswer(status, answer);
      return answer;
    },
  };
}

/**
 * The headers that the page's function returns. If the function fails, throws a
 * `LaurelBrowserError`.
 */
async function headersOf(give: () => HeaderSource | Promise<HeaderSource>): Promise<Headers> {
  try {
    return new Headers(await give());
  } catch (cause) {
    const message = 'The headers of the request are not to be had: nothing was sent.';
    throw new LaurelBrowserError('unknown', message, undefined, undefined, { cause });
  }
}

function refuseServerKey(settings: unknown): void {
  if (SERVER_KEY.test(JSON.stringify(settings))) {
    throw new TypeError(
      'A server key (sk_test_, sk_live_) must never reach a browser: replace it, and keep it on your server.',
    );
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON; undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
