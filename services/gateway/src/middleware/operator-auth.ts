/** The operator's door: one bearer token, from the configuration. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { sendError } from './answer.ts';
import { bearerTokenOf } from './bearer-token.ts';

/** Refuses everything that does not carry the token. Digests have one length, so the comparison tells nothing of it. */
export function requireOperator(token: string): RequestHandler {
  const expected = digest(token);
  return (request, response, next) => {
    if (timingSafeEqual(digest(bearerTokenOf(request) ?? ''), expected)) return next();
    sendError(response, 'unauthorized', 'The operator token is missing or not valid.');
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
