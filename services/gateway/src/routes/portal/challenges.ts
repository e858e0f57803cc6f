import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES } from '@laurel/proto/enum-names';
import { z } from '../../http/zod.ts';
import { presentOperatorChallenge } from '../../presenters/challenge.ts';
import { presentStatistics } from '../../presenters/challenge-statistics.ts';
import { operatorChallengeSchema } from '../challenges.ts';
import { component, orNull } from '../component.ts';
import { nextCursor, PAGE_LIMIT, page, pathId } from '../fields.ts';
import { statusChangeCause } from '../operator/drift.ts';
import { present } from '../run-route.ts';
import { challengeStatus } from '../v1/challenge-schemas.ts';
import { amount, timestamp } from '../v1/fields.ts';
import { defineProgramRoute, inEnvironment } from './program-route.ts';

interface Challenges {
  readonly challenge: ChallengeClient;
}

const params = { challengeId: pathId };

const MIN_BINS = 5;
const MAX_BINS = 100;
const BINS = 30;

const statisticsQuery = z.object({
  bins: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(MIN_BINS).max(MAX_BINS))
    .optional()
    .openapi({
      type: 'integer',
      minimum: MIN_BINS,
      maximum: MAX_BINS,
      description: `The most bins of the histogram; ${BINS} if absent.`,
      example: BINS,
    }),
});

const challengeQuery = z.object({
  ...inEnvironment,
  status: challengeStatus.optional().openapi({ description: 'Only challenges with this status.' }),
  ...page,
});

const ofChallenge = component(
  'ProgramChallengeList',
  z.object({ data: z.array(operatorChallengeSchema), next_cursor: nextCursor }),
);

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
        'Whether these are all scores of the source. If not, they are of 10,000 rows: the latest samples, or the attempts of the players with the newest accounts.',
    }),
  }),
);

const statisticsSchema = component(
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
      .array(
        component(
          'ChallengeStatusStep',
          z.object({
            at: timestamp,
            from: challengeStatus,
            to: challengeStatus,
            cause: statusChangeCause,
            note: z.string().nullable(),
          }),
        ),
      )
      .openapi({ description: 'Changes of the status, and the completion of the ramp, oldest first.' }),
  }),
);

export const listProgramChallenges = defineProgramRoute({
  method: 'get',
  path: '/challenges',
  name: 'listProgramChallenges',
  summary: "List a program's challenges in one environment",
  description: 'Every status, with the terms that the operator set. `fee` and `prize` are those on offer now.',
  query: challengeQuery,
  success: { status: 200, description: 'Newest first.', schema: ofChallenge },
  run: async ({ caller: { program }, query, options }, { challenge }: Challenges) => {
    const listed = await challenge.listProgramChallenges(
      {
        tenant: { programId: program.id, environment: query.environment },
        status: query.status === undefined ? ChallengeStatus.UNSPECIFIED : CHALLENGE_STATUSES[query.status],
        cursor: query.cursor ?? '',
        limit: query.limit ?? PAGE_LIMIT,
      },
      options,
    );
    if (isRefused(listed)) return listed;
    return { body: { data: listed.challenges.map(presentOperatorChallenge), next_cursor: listed.nextCursor || null } };
  },
});

export const getProgramChallenge = defineProgramRoute({
  method: 'get',
  path: '/challenges/{challengeId}',
  name: 'getProgramChallenge',
  summary: "Get one of a program's challenges",
  description: 'In either environment. A challenge of another program is 404.',
  params,
  success: { status: 200, description: 'The challenge.', schema: operatorChallengeSchema },
  run: async ({ caller: { program }, params: { challengeId }, options }, { challenge }: Challenges) => {
    const found = await challenge.getProgramChallenge({ programId: program.id, challengeId }, options);
    return isRefused(found) ? found : { body: presentOperatorChallenge(present(found.challenge)) };
  },
});

export const getChallengeStatistics = defineProgramRoute({
  method: 'get',
  path: '/challenges/{challengeId}/statistics',
  name: 'getChallengeStatistics',
  summary: 'Get how the scores of a challenge are distributed, and how often its bar is cleared',
  description:
    'Works for any status. Scores are in the units of the metric. The pass rates count since the drift monitor started; a reinstatement starts it again.',
  params,
  query: statisticsQuery,
  success: { status: 200, description: 'The statistics.', schema: statisticsSchema },
  run: async ({ caller: { program }, params: { challengeId }, query, options }, { challenge }: Challenges) => {
    const request = { programId: program.id, challengeId, bins: query.bins ?? BINS, anyProgram: false };
    const found = await challenge.getChallengeStatistics(request, options);
    return isRefused(found) ? found : { body: presentStatistics(found) };
  },
});
