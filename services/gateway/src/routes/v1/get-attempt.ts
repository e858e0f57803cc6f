import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { presentAttempt } from '../../presenters/attempt.ts';
import { attemptSchema } from './attempt-schemas.ts';
import { defineV1Route } from './route.ts';

export const getAttempt = defineV1Route({
  method: 'get',
  path: '/attempts/{attempt_id}',
  name: 'getAttempt',
  summary: 'Read an attempt',
  description: 'This read is authoritative: prefer it to rebuilding state from events.',
  success: { status: 200, description: 'The attempt, with its outcome once it has one.', schema: attemptSchema },
  refusals: { not_found: 'There is no such attempt, or it belongs to another program.' },
  run: async ({ caller, params, options }, services: OwningServices) => {
    const attemptId = params.attempt_id ?? '';
    const service = serviceOf(services, attemptId);
    if (service === null) return refused('not_found');
    const found = await service.getAttempt({ tenant: caller.tenant, attemptId }, { ...options, retryLostReply: true });
    if (isRefused(found)) return found;
    if (found.attempt === undefined) throw new Error('a service left out the attempt');
    return presentAttempt(found.attempt);
  },
});
