/** Runs a route and says how its idempotency key ended before the answer leaves. */
import { isRefused, type Refused } from '@laurel/errors';
import { failpoint } from '@laurel/failpoint';
import type { RequestHandler } from 'express';
import type { V1Dependencies, V1Route } from '../routes/v1/route.ts';
import { sendJson, sendJsonPieces, sendRefusal } from './answer.ts';
import { contextOf } from './context.ts';
import type { Idempotency } from './idempotency.ts';

export function runRoute(route: V1Route, dependencies: V1Dependencies, idempotency: Idempotency): RequestHandler {
  const { status } = route.success;

  return async (_request, response) => {
    const { claim, input, keyUse, principal, requestId } = contextOf(response);
    if (principal === undefined || input === undefined) throw new Error('a route runs after admission and validation');
    const { params, query, body, verbatim } = input;

    let answer: string | AsyncIterable<string> | Refused;
    try {
      const operationId = claim?.operationId ?? '';
      answer = await route.run({ principal, params, query, body, verbatim, operationId, requestId }, dependencies);
    } catch (error) {
      if (claim !== undefined) await idempotency.release(claim);
      throw error;
    }

    if (isRefused(answer)) {
      if (claim !== undefined) await idempotency.forget(claim);
      return sendRefusal(response, answer);
    }
    if (typeof answer !== 'string') {
      if (claim !== undefined) throw new Error('what is stored for replays is one text');
      return sendJsonPieces(response, status, answer);
    }
    if (claim !== undefined && keyUse !== undefined) {
      await idempotency.complete({ claim, fingerprint: keyUse.fingerprint, status, body: answer });
    }
    await failpoint('gateway.reply.before-send');
    sendJson(response, status, answer);
    await failpoint('gateway.reply.after-send');
  };
}
