/** The operator's door: one bearer token, from the configuration. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { sendError } from './answer.ts';

/** RFC 6750; the name of a scheme is in any case (RFC 9110). */
const BEARER = /^bearer +(\S+)$/i;

/** Refuses everything that does not carry the token. Digests have one length, so the comparison tells nothing of it. */
export function requireOperator(token: string): RequestHandler {
  const expected = digest(token);
  return (request, response, next) => {
    const given = BEARER.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (timingSafeEqual(digest(given), expected)) return next();
    sendError(response, 'unauthorized', 'The operator token is missing or not valid.');
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
