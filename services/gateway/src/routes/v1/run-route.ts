/** Runs a route and ends the lock of its idempotency key with the result, before the answer is sent. */
import { isRefused, type Refused } from '@laurel/errors';
import type { KeyUse as KeyUseMessage } from '@laurel/proto/common';
import type { Clock } from '@laurel/service';
import type { RequestHandler } from 'express';
import { REPLAYED } from '../../domain/replay-header.ts';
import { failpoint } from '../../failpoints.ts';
import { sendJson, sendJsonPieces, sendRefusal } from '../../http/answer.ts';
import { contextOf } from '../../http/context.ts';
import type { Repeated, V1Route } from '../../http/v1-route.ts';
import type { Idempotency } from '../../idempotency/idempotency.ts';
import type { KeyLock, KeyUse } from '../../repository/idempotency-records.ts';

export function runRoute<Dependencies>(
  route: V1Route<Dependencies>,
  dependencies: Dependencies,
  { idempotency, clock }: { readonly idempotency: Idempotency; readonly clock: Clock },
): RequestHandler {
  const { status } = route.success;

  return async (_request, response) => {
    const { keyLock, input, keyUse, principal, requestId } = contextOf(response);
    if (principal === undefined || input === undefined) throw new Error('a route runs after admission and validation');
    const { params, query, body, verbatim } = input;

    let answer: string | AsyncIterable<string> | Repeated | Refused;
    try {
      const operation = {
        operationId: keyLock?.operationId ?? '',
        keyUse: keyUseOf(keyLock, keyUse, clock),
        requestId,
      };
      answer = await route.run({ principal, params, query, body, verbatim, ...operation }, dependencies);
    } catch (error) {
      if (keyLock !== undefined) await idempotency.release(keyLock);
      throw error;
    }

    if (isRefused(answer)) {
      if (keyLock !== undefined) await idempotency.forget(keyLock);
      return sendRefusal(response, answer);
    }
    const repeated = isRepeated(answer);
    const text = isRepeated(answer) ? answer.body : answer;
    if (typeof text !== 'string') {
      if (keyLock !== undefined) throw new Error('what is stored for replays is one text');
      return sendJsonPieces(response, status, text);
    }
    if (keyLock !== undefined && keyUse !== undefined) {
      await idempotency.complete({ keyLock, fingerprint: keyUse.fingerprint, status, body: text });
    }
    await failpoint('gateway.reply.before-send');
    sendJson(response, status, text, repeated ? REPLAYED : undefined);
    await failpoint('gateway.reply.after-send');
  };
}

function isRepeated(answer: string | AsyncIterable<string> | Repeated): answer is Repeated {
  return typeof answer === 'object' && 'kind' in answer;
}

/** The key use as the owner of the operation records it. */
function keyUseOf(keyLock: KeyLock | undefined, use: KeyUse | undefined, clock: Clock): KeyUseMessage | undefined {
  if (keyLock === undefined || use === undefined) return undefined;
  return {
    keyId: keyLock.recordId,
    fingerprint: Buffer.from(use.fingerprint, 'hex'),
    // Every later use finds the record of the first, and raises its generation where it may run.
    isFirst: keyLock.generation === 0,
    usedAt: clock(),
  };
}
