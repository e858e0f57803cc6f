/**
 * Headers for a browser that renders a response: do not sniff its type, show it in no frame, load
 * and run nothing, send no referrer, keep no copy. The documentation site and the developer
 * portal, which are meant for browsers, set their own policy.
 */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;
