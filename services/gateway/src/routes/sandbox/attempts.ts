import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentAttempt } from '../../presenters/attempt.ts';
import { pathId } from '../fields.ts';
import { defined } from '../run-route.ts';
import { attemptSchema } from '../v1/attempt-schemas.ts';
import { defineSandboxRoute } from './route.ts';

export const expireAttempt = defineSandboxRoute({
  method: 'post',
  path: '/attempts/{attemptId}/expire',
  name: 'expireAttempt',
  summary: 'Expire an open attempt now, as after its hour',
  description: 'A repeated call is refused with `attempt_already_settled` and changes nothing.',
  params: z.object({ attemptId: pathId }),
  success: { status: 200, description: 'The attempt, which has expired; its fee is returned.', schema: attemptSchema },
  refusals: { attempt_already_settled: 'The attempt is no longer open.' },
  run: async ({ caller, params: { attemptId }, options }, services: OwningServices) => {
    const service = serviceOf(services, attemptId);
    if (service === null) return refused('not_found');
    const expired = await service.expireAttempt({ tenant: caller, attemptId }, options);
    return isRefused(expired) ? expired : presentAttempt(defined(expired.attempt));
  },
});
