/**
 * Headers that a caller may not set: they say where a message ends, which host it is for, what
 * happens to the connection, or how the response is encoded. With them a caller could smuggle a
 * second request, or have a decompression bomb inflated.
 */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a request may carry this header, in any case. */
export function isCallersHeader(name: string): boolean {
  return !RESERVED.has(name.toLowerCase());
}
