/** A challenge as operators and the program's developer see it. */
import { z } from '../http/zod.ts';
import { component } from './component.ts';
import { environmentName } from './fields.ts';
import { challengeSchema, thresholdDirection } from './v1/challenge-schemas.ts';
import { amount, timestamp, uuid } from './v1/fields.ts';

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
