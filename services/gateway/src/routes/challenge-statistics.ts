/** The statistics of a challenge, as operators and the program's developer see them. */
import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused, type Refused } from '@laurel/errors';
import { MAX_HISTOGRAM_BINS, MIN_HISTOGRAM_BINS } from '@laurel/values/limits';
import type { Result } from '../http/route.ts';
import { z } from '../http/zod.ts';
import { presentStatistics } from '../presenters/challenge-statistics.ts';
import { challengeStatusStep } from './challenges.ts';
import { component, orNull } from './component.ts';
import { amount, timestamp } from './v1/fields.ts';

const BINS = 30;

export const statisticsQuery = z.object({
  bins: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(MIN_HISTOGRAM_BINS).max(MAX_HISTOGRAM_BINS))
    .optional()
    .openapi({
      type: 'integer',
      minimum: MIN_HISTOGRAM_BINS,
      maximum: MAX_HISTOGRAM_BINS,
      description: `The most bins of the histogram; ${BINS} if absent.`,
      example: BINS,
    }),
});

const share = z.number().nullable().openapi({ description: 'Null without attempts.' });
const rate = {
  attempts: z.int().openapi({ description: 'Settled paid attempts since the drift monitor started.' }),
  passes: z.int().openapi({ description: 'Attempts that cleared the bar.' }),
  observed: share,
  low: share.openapi({ description: 'The lower end of the 95 % Wilson interval; null without attempts.' }),
  high: share.openapi({ description: 'The upper end; null without attempts.' }),
};

const evidence = {
  attempts: z.int(),
  passes: z.int(),
  evidence_above: z
    .number()
    .openapi({ description: 'The likelihood ratio for a pass rate above the claim, as a natural logarithm.' }),
  evidence_below: z
    .number()
    .openapi({ description: 'The likelihood ratio for a pass rate below the claim, as a natural logarithm.' }),
};

const scores = component(
  'ScoreHistogram',
  z.object({
    count: z.int().openapi({ description: 'The scores in all bins.' }),
    from: z.number().nullable().openapi({ description: 'The lowest score; null without scores.' }),
    to: z.number().nullable().openapi({ description: 'The highest score; null without scores.' }),
    bins: z
      .array(component('ScoreBin', z.object({ from: z.number(), to: z.number(), count: z.int() })))
      .openapi({ description: 'Bins of equal width, ascending. Each bin excludes `to`, except the last.' }),
    threshold: z.number().nullable().openapi({ description: 'The bar; null while calibrating.' }),
    source: component('ScoreSource', z.enum(['bar_samples', 'paid_attempts'])).openapi({
      description:
        '`bar_samples`: the scores that place the bar. `paid_attempts`: the scores of settled paid attempts, once there is one; never of a `top_n` challenge, whose scores all place the bar.',
    }),
    complete: z.boolean().openapi({
      description:
        'Whether these are all scores of the source. If not, they are the latest 10,000 samples, or those of 500 attempts of the players with the newest accounts.',
    }),
  }),
);

export const statisticsSchema = component(
  'ChallengeStatistics',
  z.object({
    scores,
    pass_rate: component(
      'PassRateStatistics',
      z.object({
        target: z.number(),
        ...rate,
        over_time: z
          .array(component('PassRateReading', z.object({ at: timestamp, ...rate })))
          .openapi({ description: 'The rate up to each reading of the drift monitor, oldest first.' }),
      }),
    ),
    calibration: orNull(
      component(
        'CalibrationState',
        z.object({
          collected: z.int(),
          required: z.int(),
          players_collected: z.int(),
          players_required: z.int(),
          bar_so_far: z.number().nullable().openapi({
            description: 'The bar that the scores shown would give; null without scores, and for `top_n`.',
          }),
        }),
      ),
    ).openapi({ description: 'Null unless the challenge is calibrating.' }),
    ramp: orNull(
      component(
        'RampState',
        z.object({
          full_prize: amount,
          offered_prize: amount,
          attempts_seen: z.int(),
          attempts_required: z.int(),
          completed_at: timestamp.nullable(),
        }),
      ),
    ).openapi({ description: 'Null if no ramp limits the prize, or ever has.' }),
    drift: orNull(
      component(
        'DriftState',
        z.object({
          started_at: timestamp,
          ...evidence,
          limit: z.number().openapi({ description: 'If either ratio exceeds this, the challenge is suspended.' }),
          readings: z
            .array(component('DriftStateReading', z.object({ at: timestamp, ...evidence })))
            .openapi({ description: 'Readings since the monitor started, oldest first.' }),
        }),
      ),
    ).openapi({ description: 'Null for a challenge without a drift monitor.' }),
    status_changes: z
      .array(challengeStatusStep)
      .openapi({ description: 'Changes of the status, and the completion of the ramp, oldest first.' }),
  }),
);

/**
 * `programId` is the program to which the challenge must belong. For an operator it is null: the
 * challenge may belong to any program.
 */
export async function answerStatistics(
  challenge: ChallengeClient,
  { programId, challengeId }: { readonly programId: string | null; readonly challengeId: string },
  {
    query,
    options,
  }: { readonly query: z.output<typeof statisticsQuery>; readonly options: { readonly requestId: string } },
): Promise<Result | Refused> {
  const request = {
    programId: programId ?? '',
    anyProgram: programId === null,
    challengeId,
    bins: query.bins ?? BINS,
  };
  const found = await challenge.getChallengeStatistics(request, options);
  return isRefused(found) ? found : { body: presentStatistics(found) };
}
