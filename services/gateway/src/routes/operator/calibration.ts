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
    samples: z.int().openapi({ description: 'Number of scores that count.' }),
    players: z.int().openapi({ description: 'Number of players with these scores.' }),
    fair_share: z.int().openapi({ description: "The number of one player's scores that count." }),
    required: component('CalibrationGate', z.object({ samples: z.int(), players: z.int() })),
    quantiles: z
      .array(quantile)
      .openapi({ description: 'For each share of the samples, the score that they do not exceed; ascending.' }),
    histogram: z
      .array(histogramBin)
      .openapi({ description: 'Bins of equal width, at most 50. Each bin excludes `to`, except the last.' }),
    bar: z
      .number()
      .nullable()
      .openapi({ description: 'The bar; while the challenge is calibrating, the bar that its samples give so far.' }),
    bar_interval: orNull(scoreInterval).openapi({
      description: 'The 99 % confidence interval of the bar; null if the bar does not come from samples.',
    }),
    seeded: orNull(seededDistribution).openapi({
      description: "The partner's percentiles, if the bar comes from them.",
    }),
  }),
);

export const getCalibration = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}/calibration',
  name: 'getCalibration',
  summary: 'Read the calibration of a challenge: its samples and its bar',
  description: 'Works for any challenge, also a live one. Scores are in the units of its metric.',
  params: z.object({ challengeId: pathId }),
  success: { status: 200, description: 'The calibration.', schema: calibrationSchema },
  run: async ({ params: { challengeId }, options }, { challenge }: { challenge: ChallengeClient }) => {
    const found = await challenge.getCalibration({ challengeId }, options);
    return isRefused(found) ? found : { body: presentCalibration(found) };
  },
});
