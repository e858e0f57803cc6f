/**
 * Headers for a browser that renders a response: it must not sniff the type of the response, show
 * it in a frame, load or run anything, send a referrer, or keep a copy. The documentation site and
 * the developer portal, which are meant for browsers, set their own policy.
 */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;
