/**
 * Whether a body is sent unencoded. A coding's name has no case (RFC 9110, 8.4.1), a list may have
 * empty members (5.6.1), and `identity` is the only coding accepted.
 */
export function isSentUnencoded(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding.split(',').every((coding) => IDENTITY.test(coding));
}

const IDENTITY = /^[ \t]*(?:identity)?[ \t]*$/i;
