/**
 * Changes that are authenticated by a cookie. A browser attaches the cookie to requests that its
 * person did not intend, so each change must show that a page of this origin made it.
 */
import type { Request } from 'express';

export const OTHER_PAGE_MESSAGE =
  'With the cookie only a page of this site may change anything (Sec-Fetch-Site, Origin): a program sends the token as Authorization: Bearer.';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Loopback hosts. Browsers send secure cookies to these hosts even without TLS. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Whether a request whose only credential is a cookie may do what its method says. */
export function isAllowedByCookie(request: Request, isCookieSecure: boolean): boolean {
  return SAFE_METHODS.has(request.method) || isOwnPage(request, isCookieSecure);
}

/**
 * Whether the browser says that a page of another origin made the request. False for a program,
 * which sends neither header.
 */
export function isOtherPage(request: Request, isCookieSecure: boolean): boolean {
  const { 'sec-fetch-site': site, origin } = request.headersDistinct;
  return (site !== undefined || origin !== undefined) && !isOwnPage(request, isCookieSecure);
}

/**
 * Whether a page of this origin made the request, by headers that browsers set and no page can
 * forge. If `Sec-Fetch-Site` is present, it must be `same-origin`. Without it (a browser from
 * before 2023, or a page without TLS), `Origin` must name the host of the request; if the cookie is
 * secure, the page must use TLS too, except on a loopback host. A request with neither header, such
 * as a program sends, shows nothing.
 */
export function isOwnPage({ headers, headersDistinct }: Request, isCookieSecure: boolean): boolean {
  const site = headersDistinct['sec-fetch-site'];
  if (site !== undefined) return site.length === 1 && site[0] === 'same-origin';
  const [origin = '', ...others] = headersDistinct.origin ?? [];
  if (others.length > 0 || !URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  const isWebPage = protocol === 'https:' || (protocol === 'http:' && (!isCookieSecure || LOOPBACK.test(host)));
  return isWebPage && host !== '' && host === hostOf(headers.host, protocol);
}

/**
 * The host as a URL of that protocol writes it: lower case, without the default port. Undefined if
 * the text is not a host.
 */
function hostOf(host: string | undefined, protocol: string): string | undefined {
  const url = `${protocol}//${host}`;
  if (host === undefined || !URL.canParse(url)) return undefined;
  const { host: written, pathname, search, hash, username } = new URL(url);
  return pathname === '/' && search + hash + username === '' ? written : undefined;
}
