/**
 * Locks the request's idempotency key, unless admission already did. Answers itself if another
 * request holds the key.
 */
import type { RequestHandler } from 'express';
import { REPLAY_HEADERS } from '../domain/replay-header.ts';
import { sendError, sendJson } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import type { Idempotency } from './idempotency.ts';
import type { IdempotencyUseOf } from './idempotency-use.ts';

export function lockIdempotencyKey(useOf: IdempotencyUseOf | undefined, idempotency: Idempotency): RequestHandler {
  if (useOf === undefined) return (_request, _response, next) => next();

  return async (request, response, next) => {
    const context = contextOf(response);
    if (context.idempotencyLock !== undefined) return next();
    const use = context.principal === undefined ? null : useOf(request, response, context.principal);
    if (use === null) throw new Error('an idempotency key was to be locked before admission and validation');
    const verdict = await idempotency.lock(use);
    switch (verdict.kind) {
      case 'locked':
        context.idempotencyLock = verdict.idempotencyLock;
        return next();
      case 'replay':
        return sendJson(response, verdict.status, verdict.body, REPLAY_HEADERS);
      case 'reused':
        return sendError(response, 'idempotency_key_reused');
      case 'in_progress':
        return sendError(response, 'idempotency_in_progress');
    }
  };
}
