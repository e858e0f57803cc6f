/**
 * Whether a request comes from a page of the server's own origin. No answer carries a CORS header, so that no other origin reads one; this
 * keeps other origins from causing anything, by what browsers say and a page cannot forge:
 *
 * - `Sec-Fetch-Site`, where sent, must be `same-origin`; on a GET also `none`, which is an address that the user entered.
 * - Without it (browsers before 2023, and pages without TLS) a GET passes, and any other method needs an `Origin` with the request's own
 *   host. The host alone is compared, because a server behind a proxy that ends TLS does not see the scheme; `origin` fixes all of it.
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
