/**
 * Whether a body is sent as it is. The name of a coding has no case (RFC 9110, 8.4.1), a list may have
 * empty members (5.6.1), and `identity` is the only coding that is taken.
 */
export function isIdentity(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding.split(',').every((coding) => IDENTITY.test(coding));
}

const IDENTITY = /^[ \t]*(?:identity)?[ \t]*$/i;
