/** The options of a client, checked before it sends anything. */
import type { Fetch } from './fetch.ts';
import type { TransportOptions } from './transport.ts';

export interface LaurelOptions {
  /**
   * `sk_test_...` for the sandbox, `sk_live_...` for production. Keep it on a server, in its
   * environment.
   */
  readonly apiKey: string;
  /**
   * The host that Laurel gave you, `https://...`, with or without `/v1`. Plain `http:` works for
   * test keys and for this machine.
   */
  readonly baseUrl: string;
  /** Replaces the global `fetch`: for a proxy, a pool of connections, or a test. */
  readonly fetch?: Fetch | undefined;
  /** How long one try waits for its whole response, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * How long a call may take with all tries and waits, in milliseconds; 90,000 by default, at most
   * 12 hours. A minute's limit ends within 60 s, and the idempotency key of a request whose process
   * died is free again after 60 s.
   */
  readonly deadlineMs?: number | undefined;
  /**
   * How often a call is repeated after failures; 8 by default. With 0 every call is sent only once,
   * even after a 429.
   */
  readonly maxRetries?: number | undefined;
}

const DEFAULTS = { timeoutMs: 10_000, deadlineMs: 90_000, maxRetries: 8 };
/** The longest delay of a JavaScript timer; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/**
 * Laurel keeps an idempotency key for 24 hours, and a retry after that could charge again. Half of
 * that time leaves a margin.
 */
const LONGEST_CALL_MS = 12 * 3_600_000;
/** Base62 of any length that a random key can have; the API checks the rest. */
const API_KEY = /^sk_(test|live)_[0-9A-Za-z]{20,200}$/;
const THIS_MACHINE = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Throws a TypeError for options that can only be a mistake. No message contains the key. */
export function checkOptions(options: LaurelOptions): TransportOptions {
  refuseBrowser();
  const { apiKey, fetch = globalFetch } = options;
  if (typeof apiKey !== 'string' || !API_KEY.test(apiKey)) {
    throw new TypeError('apiKey is not a key of Laurel: "sk_test_" or "sk_live_", and letters and digits after it.');
  }
  if (typeof fetch !== 'function') throw new TypeError('fetch is not a function.');
  return {
    apiKey,
    baseUrl: checkBaseUrl(options.baseUrl, apiKey),
    fetch,
    timeoutMs: checkNumber('timeoutMs', options.timeoutMs, 1, LONGEST_TIMER_MS),
    deadlineMs: checkNumber('deadlineMs', options.deadlineMs, 1, LONGEST_CALL_MS),
    maxRetries: checkNumber('maxRetries', options.maxRetries, 0, 1_000),
  };
}

/**
 * Throws in a browser: every visitor of a page could read the key in it, and charge every player of
 * the program.
 */
function refuseBrowser(): void {
  const { window, document } = globalThis as { window?: unknown; document?: unknown };
  if (window !== undefined && document !== undefined) {
    throw new TypeError(
      '@laurel/sdk is for servers: every visitor of a page could read its key. Pages use @laurel/browser.',
    );
  }
}

/**
 * The global `fetch`. It is called as a member of the global object, as some runtimes require, and
 * looked up for each call, so that instrumentation works.
 */
const globalFetch: Fetch = (url, request) => globalThis.fetch(url, request);

/** The address without `/v1` and without a final slash. */
function checkBaseUrl(text: string, apiKey: string): string {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl is not an address as "https://api.example.com": ${JSON.stringify(text)}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl has no user, no password, no query and no fragment.');
  }
  if (url.protocol === 'http:' && apiKey.startsWith('sk_live_') && !THIS_MACHINE.test(url.hostname)) {
    throw new TypeError('baseUrl begins with "http:", where anybody on the way could read the live key: use "https:".');
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function checkNumber(name: keyof typeof DEFAULTS, given: number | undefined, least: number, most: number): number {
  const value = given === undefined ? DEFAULTS[name] : given;
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new TypeError(`${name} is a whole number from ${least} to ${most}.`);
  }
  return value;
}
