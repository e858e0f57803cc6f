/** A challenge, and a page of them, as operators and the program's developer see them. */
import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused, type Refused } from '@laurel/errors';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES } from '@laurel/proto/enum-names';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { Result } from '../http/route.ts';
import { z } from '../http/zod.ts';
import { presentOperatorChallenge } from '../presenters/challenge.ts';
import { component } from './component.ts';
import { environmentName, inEnvironment, nextCursor, page } from './fields.ts';
import { challengeSchema, challengeStatus, thresholdDirection } from './v1/challenge-schemas.ts';
import { amount, timestamp, uuid } from './v1/fields.ts';

export const challengeListQuery = z.object({
  ...inEnvironment,
  status: challengeStatus.optional().openapi({ description: 'Only challenges with this status.' }),
  ...page,
});

/** The partners' list item, and everything that the operator set. */
export const operatorChallengeSchema = component(
  'OperatorChallenge',
  challengeSchema.extend({
    program_id: uuid,
    environment: environmentName,
    configured_fee: amount,
    configured_prize: amount,
    threshold_direction: thresholdDirection,
    target_pass_rate: z.number(),
    integrity_tier: z.int(),
    top_n: z.int().nullable(),
    score_min: z.number().nullable(),
    score_max: z.number().nullable(),
    min_calibration_players: z.int(),
    daily_attempt_cap: z.int(),
    required_verification_level: z.int(),
    jurisdictions: z.array(z.string()),
    created_at: timestamp,
  }),
  { description: 'The challenge as partners see it, and everything that the operator set.' },
);

export const challengeListSchema = component(
  'ProgramChallengeList',
  z.object({ data: z.array(operatorChallengeSchema), next_cursor: nextCursor }),
);

export const statusChangeCause = component(
  'StatusChangeCause',
  z.enum(['calibrated', 'seeded', 'drift', 'ramp', 'operator']),
);

/** A change without the evidence of the drift monitor. */
export const challengeStatusStep = component(
  'ChallengeStatusStep',
  z.object({
    at: timestamp,
    from: challengeStatus,
    to: challengeStatus,
    cause: statusChangeCause,
    note: z.string().nullable(),
  }),
);

/** A page of the program's challenges, newest first. */
export async function respondWithChallengePage(
  challenge: ChallengeClient,
  programId: string,
  {
    query,
    options,
  }: { readonly query: z.output<typeof challengeListQuery>; readonly options: { readonly requestId: string } },
): Promise<Result | Refused> {
  const listed = await challenge.listProgramChallenges(
    {
      tenant: { programId, environment: query.environment },
      status: query.status === undefined ? ChallengeStatus.UNSPECIFIED : CHALLENGE_STATUSES[query.status],
      cursor: query.cursor ?? '',
      limit: query.limit ?? MAX_PAGE_ROWS,
    },
    options,
  );
  if (isRefused(listed)) return listed;
  return { body: { data: listed.challenges.map(presentOperatorChallenge), next_cursor: listed.nextCursor || null } };
}
