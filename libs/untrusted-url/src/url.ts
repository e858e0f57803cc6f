/**
 * Which untrusted URLs are accepted: public HTTPS on port 443 or an unprivileged one. The text is
 * parsed once, by the WHATWG rules. Connect to the result, `url`: never parse the text again.
 * Names are not resolved here. Each connection checks their addresses, which can change in between.
 */
import { isIP } from 'node:net';
import { type Cidrs, mayConnectTo, NO_CIDRS } from './address.ts';

export type CheckedUrl =
  | { readonly ok: true; readonly url: URL }
  /** A sentence for the developer who gave the URL. */
  | { readonly ok: false; readonly reason: string };

/** The characters of the whole URL as it is sent. */
export const MAX_URL_CHARACTERS = 2_048;
/**
 * Lower ports belong to services that do not speak HTTP, and could read a request as their own
 * commands.
 */
const FIRST_UNPRIVILEGED_PORT = 1_024;
/** The longest name of DNS (RFC 1035), where names are looked up. */
const MAX_NAME_LENGTH = 253;
const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/**
 * Characters that the WHATWG rules silently drop or rewrite: spaces and controls at the ends, tabs
 * and line ends anywhere, backslashes.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const REWRITTEN = /[\u0000-\u0020\u007f\\]/;

/** The address of every name of this machine (RFC 6761, 6.3), wherever it is looked up. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** `localhost` and every name below it, which never go to a name server. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

/**
 * Checks a URL without resolving its name. A private address is accepted only if it is in `allow`;
 * `localhost` only if `allow` has the loopback network.
 */
export function checkUrl(text: string, { allow = NO_CIDRS }: { readonly allow?: Cidrs } = {}): CheckedUrl {
  if (text.length > MAX_URL_CHARACTERS)
    return refuse(`The URL must not be longer than ${MAX_URL_CHARACTERS} characters.`);
  if (REWRITTEN.test(text)) return refuse('The URL must not contain spaces, control characters or backslashes.');
  const url = URL.parse(text);
  if (url === null) return refuse('This is not a valid URL.');
  // Encoding makes each character beyond ASCII at least three times as long.
  if (url.href.length > MAX_URL_CHARACTERS)
    return refuse(`The URL must not be longer than ${MAX_URL_CHARACTERS} characters.`);
  if (url.protocol !== 'https:') return refuse('The URL must begin with https://.');
  if (url.username !== '' || url.password !== '') return refuse('The URL must not contain a user name or password.');
  if (url.href.includes('#')) return refuse('The URL must not contain a fragment.');
  if (url.port !== '' && Number(url.port) < FIRST_UNPRIVILEGED_PORT) {
    return refuse(`The port must be 443 or at least ${FIRST_UNPRIVILEGED_PORT}.`);
  }
  const reason = refusalOfHost(url.hostname, allow);
  return reason === null ? { ok: true, url } : refuse(reason);
}

function refusalOfHost(hostname: string, allow: Cidrs): string | null {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (isIP(address) !== 0) return mayConnectTo(address, allow) ? null : 'The host is not a public address.';
  if (isLoopbackName(hostname.replace(/\.$/, '')) && !mayConnectTo(LOOPBACK_ADDRESS, allow)) {
    return 'The host is not a public address.';
  }
  // A name that ends with a dot is the same host, but another origin, and matches no certificate.
  if (hostname.endsWith('.')) return 'The host must not end with a dot.';
  return hostname.length <= MAX_NAME_LENGTH && NAME.test(hostname) ? null : 'The host is not a valid name.';
}

function refuse(reason: string): CheckedUrl {
  return { ok: false, reason };
}
