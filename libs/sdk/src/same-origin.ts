/**
 * Whether a request comes from a page of the server's own origin. Responses have no CORS headers,
 * so no other origin can read them. This check keeps other origins from causing anything, by
 * headers that browsers set and pages cannot forge:
 *
 * - `Sec-Fetch-Site`, if sent, must be `same-origin`; on a GET also `none`, for an address that the
 *   user entered.
 * - Without it (browsers before 2023, pages without TLS) a GET passes; any other method needs an
 *   `Origin` with the request's own host. Only hosts are compared, because a server behind a proxy
 *   that ends TLS does not see the scheme; `origin` fixes scheme and host.
 */
export function isSameOrigin({ method, url, headers }: Request, origin?: string): boolean {
  const isGet = method === 'GET';
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || (isGet && site === 'none');
  if (isGet) return true;
  const sender = headers.get('origin') ?? '';
  if (!URL.canParse(sender)) return false;
  return origin === undefined ? new URL(sender).host === new URL(url).host : sender === origin;
}
