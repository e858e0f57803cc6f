/** Claims the request's idempotency key, or answers for the request that holds it. */
import type { RequestHandler } from 'express';
import type { V1Route } from '../routes/v1/route.ts';
import { sendError, sendJson } from './answer.ts';
import { contextOf } from './context.ts';
import { fingerprintOf, type Idempotency, recordIdOf } from './idempotency.ts';

export function claimKey(route: V1Route, idempotency: Idempotency): RequestHandler {
  const { mintOperationId } = route;
  if (mintOperationId === undefined) return (_request, _response, next) => next();
  const template = `${route.method} ${route.path}`;

  return async (_request, response, next) => {
    const context = contextOf(response);
    const { principal, input } = context;
    if (principal === undefined || input === undefined)
      throw new Error('a key is claimed after admission and validation');
    const verdict = await idempotency.claim({
      recordId: recordIdOf(principal, template, input.idempotencyKey),
      operationId: mintOperationId(input.body),
      fingerprint: fingerprintOf(input.params, input.sentBody),
    });
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
