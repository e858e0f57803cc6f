import type { ChallengeClient } from '@laurel/attempt-owners';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentDrift } from '../../presenters/drift.ts';
import { pathId } from '../fields.ts';
import { timestamp, uuid } from '../v1/schemas.ts';
import { defineOperatorRoute } from './route.ts';

const evidence = {
  attempts: z.int().openapi({ description: 'Settled paid attempts since the monitor started.' }),
  passes: z.int().openapi({ description: 'Of them, those that cleared the bar.' }),
  pass_rate: z.number().nullable().openapi({ description: 'Null without attempts.' }),
  log_ratio_above: z.number().openapi({
    description: 'The likelihood ratio that the bar is passed too often, as a natural logarithm.',
  }),
  log_ratio_below: z.number().openapi({ description: 'That it is passed too seldom.' }),
};

const status = z.enum(['calibrating', 'live', 'suspended', 'closed']);

const driftSchema = z
  .object({
    challenge_id: uuid,
    status,
    started_at: timestamp.nullable().openapi({ description: 'Null for a challenge without a monitor.' }),
    ...evidence,
    claimed: z
      .object({ low: z.number(), high: z.number() })
      .openapi({ description: 'The pass rates between which the claim holds.' }),
    log_limit: z.number().openapi({ description: 'Above it either ratio suspends the challenge.' }),
    attempts_before_judging: z.int().openapi({ description: 'With fewer attempts the monitor does not judge.' }),
    readings: z
      .array(z.object({ ...evidence, read_at: timestamp }).openapi('DriftReading'))
      .openapi({ description: 'Since the monitor started, oldest first.' }),
    changes: z
      .array(
        z.object({
          changed_at: timestamp,
          from: status,
          to: status,
          cause: z.enum(['calibrated', 'seeded', 'drift', 'ramp', 'operator']),
          note: z.string().nullable(),
          evidence: z.union([z.object(evidence), z.null()]).openapi({ description: "The monitor's, as it was then." }),
        }),
      )
      .openapi({ description: 'Of its status, and the completion of its ramp, oldest first.' }),
  })
  .openapi('Drift');

export const getDrift = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}/drift',
  name: 'getDrift',
  summary: "A challenge's drift monitor, and the history of its status",
  params: z.object({ challengeId: pathId }),
  success: { status: 200, description: 'The monitor.', schema: driftSchema },
  run: async ({ params: { challengeId }, options }, { challenge }: { challenge: ChallengeClient }) => {
    const found = await challenge.getDrift({ challengeId }, options);
    return isRefused(found) ? found : { body: presentDrift(found) };
  },
});
