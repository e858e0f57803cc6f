import type { ChallengeClient } from '@laurel/attempt-owners';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentCalibration } from '../../presenters/calibration.ts';
import { pathId } from '../fields.ts';
import { uuid } from '../v1/schemas.ts';
import { defineOperatorRoute } from './route.ts';

const score = z.number();

const calibrationSchema = z
  .object({
    challenge_id: uuid,
    samples: z.int().openapi({ description: 'Scores that count.' }),
    players: z.int().openapi({ description: 'Who gave them.' }),
    fair_share: z.int().openapi({ description: "How many of one player's scores count." }),
    required: z.object({ samples: z.int(), players: z.int() }),
    quantiles: z
      .array(z.object({ share: z.number(), score }))
      .openapi({ description: 'The score below or at which each share of the samples lies, ascending.' }),
    histogram: z
      .array(z.object({ from: score, to: score, samples: z.int() }))
      .openapi({ description: 'Bins of equal width, at most 50; `to` is excluded, but for the last bin.' }),
    bar: z.number().nullable().openapi({ description: 'While calibrating, the bar that the samples so far place.' }),
    bar_interval: z.union([z.object({ low: score, high: score }), z.null()]).openapi({
      description: 'Between which the bar of endless samples lies with 99 %; null for a bar that no samples placed.',
    }),
    seeded: z
      .union([z.object({ p5: score, p25: score, p50: score, p75: score, p95: score, sample_size: z.int() }), z.null()])
      .openapi({ description: "The partner's percentiles, where they placed the bar." }),
  })
  .openapi('Calibration');

export const getCalibration = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}/calibration',
  name: 'getCalibration',
  summary: 'The samples of a challenge, and the bar that they place',
  params: z.object({ challengeId: pathId }),
  success: { status: 200, description: 'Its calibration.', schema: calibrationSchema },
  run: async ({ params: { challengeId }, options }, { challenge }: { challenge: ChallengeClient }) => {
    const found = await challenge.getCalibration({ challengeId }, options);
    return isRefused(found) ? found : { body: presentCalibration(found) };
  },
});
