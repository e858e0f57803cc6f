import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { MAX_VOID_REASON_CHARACTERS } from '@laurel/attempts/domain';
import { isRefused, refused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentAttempt } from '../../presenters/attempt.ts';
import { component } from '../component.ts';
import { pathId, text } from '../fields.ts';
import { present } from '../run-route.ts';
import { attemptSchema } from '../v1/attempt-schemas.ts';
import { defineOperatorRoute } from './route.ts';

export const voidAttempt = defineOperatorRoute({
  method: 'post',
  path: '/attempts/{attemptId}/void',
  name: 'voidAttempt',
  summary: 'Void an open attempt and return its fee',
  description:
    'Voids an attempt of any program, in test or live. The partner gets `attempt.refunded` with the reason `voided`. If the attempt has ended, the response is a `conflict`. If an earlier void was interrupted, this call completes it.',
  params: z.object({ attemptId: pathId }),
  body: component('VoidRequest', z.object({ reason: text(MAX_VOID_REASON_CHARACTERS) })),
  success: { status: 200, description: 'The attempt, voided.', schema: attemptSchema },
  refusals: { conflict: 'The attempt is not open.' },
  action: 'void_attempt',
  run: async ({ params: { attemptId }, body, options }, services: OwningServices) => {
    const service = serviceOf(services, attemptId);
    if (service === null) return refused('not_found');
    const voided = await service.voidAttempt({ attemptId, reason: body.reason }, options);
    return isRefused(voided) ? voided : presentAttempt(present(voided.attempt));
  },
});
