import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentCalibration } from '../../presenters/calibration.ts';
import { component, orNull } from '../component.ts';
import { pathId } from '../fields.ts';
import { uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const score = z.number();

const quantile = component('Quantile', z.object({ share: z.number(), score }));
const histogramBin = component('HistogramBin', z.object({ from: score, to: score, samples: z.int() }));
const scoreInterval = component('ScoreInterval', z.object({ low: score, high: score }));
const seededDistribution = component(
  'SeededDistribution',
  z.object({
    p5: score,
    p25: score,
    p50: score,
    p75: score,
    p95: score,
    sample_size: z.int(),
  }),
);

const calibrationSchema = component(
  'CalibrationReport',
  z.object({
    challenge_id: uuid,
    samples: z.int().openapi({ description: 'Scores that count.' }),
    players: z.int().openapi({ description: 'Who gave them.' }),
    fair_share: z.int().openapi({ description: "How many of one player's scores count." }),
    required: component('CalibrationGate', z.object({ samples: z.int(), players: z.int() })),
    quantiles: z
      .array(quantile)
      .openapi({ description: 'The score below or at which each share of the samples lies, ascending.' }),
    histogram: z
      .array(histogramBin)
      .openapi({ description: 'Bins of equal width, at most 50; `to` is excluded, but for the last bin.' }),
    bar: z.number().nullable().openapi({ description: 'While calibrating, the bar that the samples so far place.' }),
    bar_interval: orNull(scoreInterval).openapi({
      description: 'Between which the bar of endless samples lies with 99 %; null for a bar that no samples placed.',
    }),
    seeded: orNull(seededDistribution).openapi({
      description: "The partner's percentiles, where they placed the bar.",
    }),
  }),
);

export const getCalibration = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}/calibration',
  name: 'getCalibration',
  summary: 'The samples of a challenge, and the bar that they place',
  description: 'Of any challenge, also one that is live. Scores are in the metric of the challenge.',
  params: z.object({ challengeId: pathId }),
  success: { status: 200, description: 'Its calibration.', schema: calibrationSchema },
  run: async ({ params: { challengeId }, options }, { challenge }: { challenge: ChallengeClient }) => {
    const found = await challenge.getCalibration({ challengeId }, options);
    return isRefused(found) ? found : { body: presentCalibration(found) };
  },
});
