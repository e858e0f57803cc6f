import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentDrift } from '../../presenters/drift.ts';
import { component, orNull } from '../component.ts';
import { pathId } from '../fields.ts';
import { challengeStatus } from '../v1/challenge-schemas.ts';
import { timestamp, uuid } from '../v1/fields.ts';
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

const passRateBand = component('PassRateBand', z.object({ low: z.number(), high: z.number() }));
const driftEvidence = component('DriftEvidence', z.object(evidence));
const driftReading = component('DriftReading', z.object({ ...evidence, read_at: timestamp }));

const statusChange = component(
  'ChallengeStatusChange',
  z.object({
    changed_at: timestamp,
    from: challengeStatus,
    to: challengeStatus,
    cause: component('StatusChangeCause', z.enum(['calibrated', 'seeded', 'drift', 'ramp', 'operator'])),
    note: z.string().nullable(),
    evidence: orNull(driftEvidence).openapi({ description: "The monitor's, as it was then." }),
  }),
);

const driftSchema = component(
  'DriftReport',
  z.object({
    challenge_id: uuid,
    status: challengeStatus,
    started_at: timestamp.nullable().openapi({ description: 'Null for a challenge without a monitor.' }),
    ...evidence,
    claimed: passRateBand.openapi({ description: 'The pass rates between which the claim holds.' }),
    log_limit: z.number().openapi({ description: 'Above it either ratio suspends the challenge.' }),
    attempts_before_judging: z.int().openapi({ description: 'With fewer attempts the monitor does not judge.' }),
    readings: z.array(driftReading).openapi({ description: 'Since the monitor started, oldest first.' }),
    changes: z
      .array(statusChange)
      .openapi({ description: 'Of its status, and the completion of its ramp, oldest first.' }),
  }),
);

export const getDrift = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}/drift',
  name: 'getDrift',
  summary: "A challenge's drift monitor, and the history of its status",
  description: 'The evidence is given as natural logarithms: above `log_limit` either ratio suspends the challenge.',
  params: z.object({ challengeId: pathId }),
  success: { status: 200, description: 'The monitor.', schema: driftSchema },
  run: async ({ params: { challengeId }, options }, { challenge }: { challenge: ChallengeClient }) => {
    const found = await challenge.getDrift({ challengeId }, options);
    return isRefused(found) ? found : { body: presentDrift(found) };
  },
});
