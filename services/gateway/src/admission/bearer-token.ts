import type { Request } from 'express';

/** RFC 6750; the name of a scheme is case-insensitive (RFC 9110). */
const BEARER = /^bearer +(\S+)$/i;

/** The token of `Authorization: Bearer`; undefined when there is none. */
export function bearerTokenOf(request: Request): string | undefined {
  return BEARER.exec(request.headers.authorization ?? '')?.[1];
}
