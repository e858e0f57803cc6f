/** Claims the request's idempotency key, unless admission did, or answers for the request that holds it. */
import type { RequestHandler } from 'express';
import { sendError, sendJson } from './answer.ts';
import { contextOf } from './context.ts';
import type { Idempotency } from './idempotency.ts';
import type { KeyUseOf } from './key-use.ts';

export function claimKey(useOf: KeyUseOf | undefined, idempotency: Idempotency): RequestHandler {
  if (useOf === undefined) return (_request, _response, next) => next();

  return async (request, response, next) => {
    const context = contextOf(response);
    if (context.claim !== undefined) return next();
    const use = context.principal === undefined ? null : useOf(request, response, context.principal);
    if (use === null) throw new Error('a key is claimed after admission and validation');
    const verdict = await idempotency.claim(use);
    switch (verdict.kind) {
      case 'claimed':
        context.claim = verdict.claim;
        return next();
      case 'replay':
        return sendJson(response, verdict.status, verdict.body, { 'Idempotency-Replayed': 'true' });
      case 'reused':
        return sendError(response, 'idempotency_key_reused');
      case 'in_progress':
        return sendError(response, 'idempotency_in_progress');
    }
  };
}
