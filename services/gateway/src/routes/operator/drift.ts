import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentDrift } from '../../presenters/drift.ts';
import { statusChangeCause } from '../challenges.ts';
import { component, orNull } from '../component.ts';
import { pathId } from '../fields.ts';
import { challengeStatus } from '../v1/challenge-schemas.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const evidence = {
  attempts: z.int().openapi({ description: 'Settled paid attempts since the monitor started.' }),
  passes: z.int().openapi({ description: 'Attempts that cleared the bar.' }),
  pass_rate: z.number().nullable().openapi({ description: 'Null if there are no attempts.' }),
  log_ratio_above: z.number().openapi({
    description: 'The likelihood ratio for a pass rate above the claim, as a natural logarithm.',
  }),
  log_ratio_below: z
    .number()
    .openapi({ description: 'The likelihood ratio for a pass rate below the claim, as a natural logarithm.' }),
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
    cause: statusChangeCause,
    note: z.string().nullable(),
    evidence: orNull(driftEvidence).openapi({ description: "The monitor's evidence at the time of the change." }),
  }),
);

const driftSchema = component(
  'DriftReport',
  z.object({
    challenge_id: uuid,
    status: challengeStatus,
    started_at: timestamp
      .nullable()
      .openapi({ description: 'When the monitor started; null if the challenge has no monitor.' }),
    ...evidence,
    claimed: passRateBand.openapi({ description: 'The claim holds for pass rates in this band.' }),
    log_limit: z.number().openapi({ description: 'If either ratio exceeds this, the challenge is suspended.' }),
    attempts_before_judging: z
      .int()
      .openapi({ description: 'The monitor does not judge before it has this many attempts.' }),
    readings: z.array(driftReading).openapi({ description: 'Readings since the monitor started, oldest first.' }),
    changes: z
      .array(statusChange)
      .openapi({ description: 'Changes of the status, and the completion of the ramp, oldest first.' }),
  }),
);

export const getDrift = defineOperatorRoute({
  method: 'get',
  path: '/challenges/{challengeId}/drift',
  name: 'getDrift',
  summary: "Read a challenge's drift monitor and the history of its status",
  description: 'The ratios are natural logarithms. If either exceeds `log_limit`, the challenge is suspended.',
  params: z.object({ challengeId: pathId }),
  success: { status: 200, description: 'The monitor.', schema: driftSchema },
  run: async ({ params: { challengeId }, options }, { challenge }: { challenge: ChallengeClient }) => {
    const found = await challenge.getDrift({ challengeId }, options);
    return isRefused(found) ? found : { body: presentDrift(found) };
  },
});
