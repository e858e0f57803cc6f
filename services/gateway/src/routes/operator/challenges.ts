import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused, type Refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { CreateChallengeRequest, GetChallengeResponse } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, PRIZE_STRUCTURES, THRESHOLD_DIRECTIONS } from '@laurel/proto/enum-names';
import {
  DEFAULT_DAILY_ATTEMPT_CAP,
  DEFAULT_MIN_CALIBRATION_PLAYERS,
  MAX_CALIBRATION_N,
  MAX_COUNT_OF_TERMS,
  MAX_DESCRIPTION_CHARACTERS,
  MAX_JURISDICTIONS,
  MAX_NAME_CHARACTERS,
  MAX_NOTE_CHARACTERS,
} from '@laurel/values/limits';
import type { Result } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import { presentOperatorChallenge } from '../../presenters/challenge.ts';
import { presentStatusChange } from '../../presenters/drift.ts';
import { findProgram } from '../../repository/programs.ts';
import { answerStatistics, statisticsQuery, statisticsSchema } from '../challenge-statistics.ts';
import {
  challengeListQuery,
  challengeListSchema,
  challengeStatusStep,
  operatorChallengeSchema,
  respondWithChallengePage,
} from '../challenges.ts';
import { component, orNull } from '../component.ts';
import { environment, id, jurisdiction, pathId, positiveAmount, text, verificationLevel } from '../fields.ts';
import { defined } from '../run-route.ts';
import { prizeStructure, thresholdDirection } from '../v1/challenge-schemas.ts';
import { defineOperatorRoute } from './route.ts';

const count = z.int().min(1).max(MAX_COUNT_OF_TERMS);

/**
 * The fields that an operator sets; docs/contract/rules.md, "Challenges", gives the defaults. The
 * challenge service enforces the rules that relate fields: it refuses with `invalid_request` too.
 */
const newChallenge = component(
  'ChallengeRequest',
  z.object({
    environment,
    name: text(MAX_NAME_CHARACTERS),
    description: text(MAX_DESCRIPTION_CHARACTERS).nullish(),
    fee: positiveAmount,
    prize: positiveAmount.openapi({
      description:
        'The prize may exceed the ceiling of its tier: attempts are then refused with `challenge_not_available`.',
    }),
    prize_structure: prizeStructure.default('threshold'),
    top_n: count.nullish(),
    metric_name: text(MAX_NAME_CHARACTERS),
    metric_unit: text(MAX_NAME_CHARACTERS),
    threshold_direction: thresholdDirection,
    score_min: z.number().nullish(),
    score_max: z.number().nullish(),
    target_pass_rate: z.number().gt(0).lt(1),
    integrity_tier: z.int().min(1).max(3),
    min_calibration_n: z
      .int()
      .min(1)
      .max(MAX_CALIBRATION_N)
      .nullish()
      .openapi({ description: 'By default 200, or 40 / `target_pass_rate` if that is more.' }),
    min_calibration_players: count.default(DEFAULT_MIN_CALIBRATION_PLAYERS),
    daily_attempt_cap: count.default(DEFAULT_DAILY_ATTEMPT_CAP),
    required_verification_level: verificationLevel.default(0),
    jurisdictions: z.array(jurisdiction).max(MAX_JURISDICTIONS).default([]),
    parent_challenge_id: id.nullish(),
    status: z.enum(['calibrating', 'live']).default('calibrating'),
    threshold: z.number().nullish().openapi({
      description:
        'Required for a `live` challenge that is not a rung. A rung without a threshold gets its bar from its parent.',
    }),
  }),
);

const challengeChange = component(
  'ChallengeChange',
  z.strictObject({
    status: z.enum(['live', 'suspended', 'closed']),
    note: text(MAX_NOTE_CHARACTERS)
      .optional()
      .openapi({ description: 'Required to reinstate a challenge that the drift monitor suspended.' }),
  }),
);

const challengeWithChange = component(
  'ChallengeWithStatusChange',
  operatorChallengeSchema.extend({
    status_change: orNull(challengeStatusStep).openapi({
      description: 'The change that gave the challenge its status; null if none is recorded.',
    }),
  }),
);

const params = z.object({ challengeId: pathId });

interface Challenges {
  readonly challenge: ChallengeClient;
}

export const createChallenge = defineOperatorRoute({
  method: 'post',
  path: '/programs/{programId}/challenges',
  name: 'createChallenge',
  summary: 'Open a challenge',
  description:
    'A `calibrating` challenge gets its bar from free attempts, from scores that the partner reports or from its percentiles, and then goes live. Attempts at a `live` challenge can be paid for at once. A repeated call opens another challenge.',
  params: z.object({ programId: pathId }),
  body: newChallenge,
  success: { status: 201, description: 'The challenge.', schema: operatorChallengeSchema },
  refusals: { invalid_request: 'A field does not match its schema, or fields contradict each other.' },
  action: 'create_challenge',
  recording: { creates: 'challenge' },
  run: async (
    { params: { programId }, body, options },
    { challenge, database }: Challenges & { database: Database },
  ) => {
    const program = await findProgram(database, programId);
    if (isRefused(program)) return program;
    return answer(await challenge.createChallenge(toRequest(program.id, body), options));
  },
});

export const getChallenge = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}',
  name: 'getChallenge',
  summary: 'Read a challenge and the last change of its status',
  params,
  success: { status: 200, description: 'The challenge.', schema: challengeWithChange },
  run: async ({ params: { challengeId }, options }, { challenge }: Challenges) => {
    const found = await challenge.getChallenge({ challengeId }, options);
    if (isRefused(found)) return found;
    const { statusChange } = found;
    return {
      body: {
        ...presentOperatorChallenge(defined(found.challenge)),
        status_change: statusChange === undefined ? null : presentStatusChange(statusChange),
      },
    };
  },
});

export const listChallenges = defineOperatorRoute({
  method: 'get',
  path: '/programs/{programId}/challenges',
  name: 'listChallenges',
  summary: "List a program's challenges in one environment",
  description: 'Every status, as the developer of the program sees them too.',
  params: z.object({ programId: pathId }),
  query: challengeListQuery,
  success: { status: 200, description: 'Newest first.', schema: challengeListSchema },
  run: async (
    { params: { programId }, query, options },
    { challenge, database }: Challenges & { database: Database },
  ) => {
    const program = await findProgram(database, programId);
    return isRefused(program) ? program : respondWithChallengePage(challenge, program.id, { query, options });
  },
});

export const getStatistics = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}/statistics',
  name: 'getStatistics',
  summary: 'Read how the scores of a challenge are distributed, and how often its bar is cleared',
  description: 'As the developer of the program sees them too, for any status.',
  params,
  query: statisticsQuery,
  success: { status: 200, description: 'The statistics.', schema: statisticsSchema },
  run: ({ params: { challengeId }, query, options }, { challenge }: Challenges) =>
    answerStatistics(challenge, { programId: null, challengeId }, { query, options }),
});

export const changeChallenge = defineOperatorRoute({
  method: 'patch',
  path: '/challenges/{challengeId}',
  name: 'changeChallenge',
  summary: 'Reinstate, suspend or close a challenge',
  description:
    '`closed` is final. `live` reinstates a suspended challenge to its earlier status, `live` or `calibrating`. Nobody can make a calibrating challenge live by hand. After a suspension by the drift monitor the call needs a `note`, and the monitor starts again. Setting the current status changes nothing.',
  params,
  body: challengeChange,
  success: { status: 200, description: 'The challenge.', schema: operatorChallengeSchema },
  refusals: {
    invalid_request: 'The body does not match its schema, or a reinstatement after drift has no note.',
    conflict: 'Its status does not allow this one.',
  },
  action: 'change_challenge',
  run: async ({ params: { challengeId }, body, options }, { challenge }: Challenges) => {
    const change = { challengeId, status: CHALLENGE_STATUSES[body.status], note: body.note };
    const changed = answer(await challenge.updateChallengeStatus(change, options));
    return isRefused(changed) ? changed : { ...changed, logged: { change: body } };
  },
});

function toRequest(programId: string, body: z.output<typeof newChallenge>): CreateChallengeRequest {
  return {
    tenant: { programId, environment: body.environment },
    terms: {
      name: body.name,
      description: body.description ?? undefined,
      feeCents: body.fee,
      prizeCents: body.prize,
      prizeStructure: PRIZE_STRUCTURES[body.prize_structure],
      topN: body.top_n ?? undefined,
      metricName: body.metric_name,
      metricUnit: body.metric_unit,
      thresholdDirection: THRESHOLD_DIRECTIONS[body.threshold_direction],
      scoreMin: body.score_min ?? undefined,
      scoreMax: body.score_max ?? undefined,
      targetPassRate: body.target_pass_rate,
      integrityTier: body.integrity_tier,
      // 0 selects the challenge service's default.
      minCalibrationN: body.min_calibration_n ?? 0,
      minCalibrationPlayers: body.min_calibration_players,
      dailyAttemptCap: body.daily_attempt_cap,
      requiredVerificationLevel: body.required_verification_level,
      jurisdictions: body.jurisdictions,
      parentChallengeId: body.parent_challenge_id ?? '',
    },
    status: CHALLENGE_STATUSES[body.status],
    threshold: body.threshold ?? undefined,
  };
}

function answer(response: Pick<GetChallengeResponse, 'challenge'> | Refused): Result | Refused {
  return isRefused(response) ? response : { body: presentOperatorChallenge(defined(response.challenge)) };
}
