/** The shapes of challenges. Routes check with them; the documents are generated from them. */
import { MIN_SAMPLE_SIZE } from '@laurel/values/limits';
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';
import { amount, playerRef, uuid } from './fields.ts';

export const listChallengesQuery = z.object({
  player_ref: playerRef,
  status: z
    .enum(['all'], 'must be `all`, or absent')
    .optional()
    .openapi({ description: 'If absent, only `live` challenges. `all`: every status, with calibration progress.' }),
});

const percentile = z.number().openapi({ description: 'Each percentile is above the one before.' });

const distribution = component(
  'Distribution',
  z
    .object({ p5: percentile, p25: percentile, p50: percentile, p75: percentile, p95: percentile })
    .refine(({ p5, p25, p50, p75, p95 }) => p5 < p25 && p25 < p50 && p50 < p75 && p75 < p95, {
      message: 'must ascend strictly: p5, p25, p50, p75, p95',
    }),
  { description: "Percentiles of the game's scores, in the units of the metric." },
);

export const seedDistributionBody = component(
  'DistributionRequest',
  z.object({
    distribution,
    sample_size: z
      .int()
      .min(MIN_SAMPLE_SIZE)
      .openapi({ description: 'The number of scores behind the percentiles.', maximum: Number.MAX_SAFE_INTEGER }),
  }),
);

export const challengeStatus = component('ChallengeStatus', z.enum(['calibrating', 'live', 'suspended', 'closed']));

export const prizeStructure = component('PrizeStructure', z.enum(['threshold', 'top_n']), {
  description: '`threshold`: one bar for every player. `top_n`: the bar is the n-th best score so far.',
});

export const thresholdDirection = component('ThresholdDirection', z.enum(['higher_is_better', 'lower_is_better']), {
  description: 'Which of two scores is the better one.',
});

const ramp = component(
  'Ramp',
  z.object({
    active: z.literal(true),
    fullPrize: amount.openapi({ description: 'The prize once the cap has lifted.' }),
    attemptsSeen: z.int().openapi({ description: 'Settled paid attempts so far.' }),
    attemptsRequired: z.int(),
  }),
  { description: "A challenge's go-live ramp, which caps its prize." },
);

const calibrationProgress = component(
  'CalibrationProgress',
  z.object({
    collected: z.int().openapi({ description: 'Scores so far.' }),
    required: z.int(),
    playersCollected: z.int().openapi({ description: 'Players with these scores.' }),
    playersRequired: z.int(),
  }),
);

export const challengeSchema = component(
  'Challenge',
  z.object({
    id: uuid.openapi({ description: 'The value to send as `challenge_id`.' }),
    name: z.string(),
    description: z.string().nullable(),
    fee: amount.openapi({ description: 'Cost of one paid attempt; `0.00` while calibrating.' }),
    prize: amount.openapi({ description: 'Prize on offer to this player now.' }),
    currency: z.literal('USD'),
    status: challengeStatus,
    prize_structure: prizeStructure,
    threshold: z.number().nullable().openapi({ description: 'The bar; null while calibrating.' }),
    min_calibration_n: z.int(),
    calibration_source: component(
      'CalibrationSource',
      z.enum(['observed', 'listened', 'partner_seeded', 'rung_derived']),
      { description: 'Where the bar comes from, or will come from.' },
    ),
    metric_name: z.string(),
    metric_unit: z.string(),
    rung: z.int().openapi({ description: 'Position in a ladder; `1` for an ordinary challenge.' }),
    parent_challenge_id: uuid.nullable(),
    ramp: ramp.optional().openapi({ description: 'Present only while the go-live ramp caps the prize.' }),
    calibration: calibrationProgress.optional().openapi({ description: 'Present only while calibrating.' }),
  }),
);

export const challengeListSchema = component('ChallengeList', z.object({ data: z.array(challengeSchema) }));

export const distributionResultSchema = component(
  'DistributionResult',
  z.object({
    challenge_id: uuid,
    threshold: z.number().openapi({ description: 'The bar that follows from the percentiles.' }),
    target_pass_rate: z.number().openapi({ description: 'The share of attempts that should clear the bar.' }),
    sample_size: z.int().openapi({ description: 'As sent.' }),
    calibration_source: z.literal('partner_seeded'),
    provisional: z.literal(true),
    note: z.string().openapi({ description: 'For people; its wording may change at any time.' }),
  }),
);
