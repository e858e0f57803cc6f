import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { isUuid, newId } from '@laurel/values/ids';
import { failpoint } from '../../failpoints.ts';
import { replayedResult } from '../../http/route.ts';
import { presentDistributionResult } from '../../presenters/challenge.ts';
import { distributionResultSchema, seedDistributionBody } from './challenge-schemas.ts';
import { defineV1Route } from './route.ts';

export const seedDistribution = defineV1Route({
  method: 'post',
  path: '/challenges/{id}/distribution',
  name: 'seedDistribution',
  summary: 'Seed a calibrating challenge with percentiles',
  description:
    'Sets the bar from scores that the partner has seen, and makes the challenge `live`. Until its own attempts have confirmed the bar, the prize is limited to 20 % of the ceiling of its integrity tier.',
  body: seedDistributionBody,
  mintOperationId: () => newId(),
  success: { status: 201, description: 'The bar is set; the challenge is `live`.', schema: distributionResultSchema },
  refusals: {
    invalid_request:
      'A percentile is missing, not a finite number or not above the one before; `sample_size` is not a whole number or is below 500; the challenge is not `calibrating`, is a rung of a ladder or `top_n`, or does not belong to this program; the bar would lie outside the plausible window; `Idempotency-Key` is missing or longer than 255 characters.',
  },
  run: async (
    { caller, params, body, operationId, keyUse, options },
    { challenge }: { challenge: ChallengeClient },
  ) => {
    const challengeId = params.id ?? '';
    if (!isUuid(challengeId)) return refused('invalid_request', 'The path names no challenge of this program.');
    await failpoint('gateway.seed.before-call');
    const seeded = await challenge.seedChallenge(
      {
        operationId,
        tenant: caller.tenant,
        challengeId,
        distribution: body.distribution,
        sampleSize: BigInt(body.sample_size),
        keyUse,
      },
      options,
    );
    await failpoint('gateway.seed.after-call');
    if (isRefused(seeded)) return seeded;
    const presented = presentDistributionResult(seeded);
    return seeded.repeated ? replayedResult(presented) : presented;
  },
});
