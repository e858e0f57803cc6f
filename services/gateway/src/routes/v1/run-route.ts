/** Runs a route and ends the lock of its idempotency key with the result, before the answer is sent. */
import { isRefused, type Refused } from '@laurel/errors';
import type { RequestHandler } from 'express';
import { failpoint } from '../../failpoints.ts';
import { sendJson, sendJsonPieces, sendRefusal } from '../../http/answer.ts';
import { contextOf } from '../../http/context.ts';
import type { V1Route } from '../../http/v1-route.ts';
import type { Idempotency } from '../../idempotency/idempotency.ts';

export function runRoute<Dependencies>(
  route: V1Route<Dependencies>,
  dependencies: Dependencies,
  idempotency: Idempotency,
): RequestHandler {
  const { status } = route.success;

  return async (_request, response) => {
    const { keyLock, input, keyUse, principal, requestId } = contextOf(response);
    if (principal === undefined || input === undefined) throw new Error('a route runs after admission and validation');
    const { params, query, body, verbatim } = input;

    let answer: string | AsyncIterable<string> | Refused;
    try {
      const operationId = keyLock?.operationId ?? '';
      answer = await route.run({ principal, params, query, body, verbatim, operationId, requestId }, dependencies);
    } catch (error) {
      if (keyLock !== undefined) await idempotency.release(keyLock);
      throw error;
    }

    if (isRefused(answer)) {
      if (keyLock !== undefined) await idempotency.forget(keyLock);
      return sendRefusal(response, answer);
    }
    if (typeof answer !== 'string') {
      if (keyLock !== undefined) throw new Error('what is stored for replays is one text');
      return sendJsonPieces(response, status, answer);
    }
    if (keyLock !== undefined && keyUse !== undefined) {
      await idempotency.complete({ keyLock, fingerprint: keyUse.fingerprint, status, body: answer });
    }
    await failpoint('gateway.reply.before-send');
    sendJson(response, status, answer);
    await failpoint('gateway.reply.after-send');
  };
}
