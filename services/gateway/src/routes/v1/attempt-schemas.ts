/**
 * The shapes of attempts and outcomes. Routes check with them; the documents are generated from
 * them.
 */
import { MAX_EVIDENCE_BYTES, MAX_METADATA_BYTES } from '@laurel/attempts/domain';
import { z } from '../../http/zod.ts';
import { component, orNull } from '../component.ts';
import { amount, id, opaqueObject, playerRef, timestamp, uuid } from './fields.ts';

const attemptFields = { player_ref: playerRef, metadata: opaqueObject(MAX_METADATA_BYTES).optional() };
const challengeParent = id.openapi({ description: 'The `id` of a challenge.' });
const roundParent = id.openapi({ description: 'The `id` of a round.' });

component('ChallengeAttemptRequest', z.object({ challenge_id: challengeParent, ...attemptFields }), {
  description: 'An attempt for the fixed prize of a challenge.',
});
component('RoundAttemptRequest', z.object({ tournament_round_id: roundParent, ...attemptFields }), {
  description: "An attempt for a place in a round's rank table.",
});

export const createAttemptBody = component(
  'AttemptRequest',
  z
    .object({ challenge_id: challengeParent.optional(), tournament_round_id: roundParent.optional(), ...attemptFields })
    .refine((body) => (body.challenge_id === undefined) !== (body.tournament_round_id === undefined), {
      message: 'must have exactly one of `challenge_id` and `tournament_round_id`',
    }),
  {
    type: 'object',
    oneOf: [
      { $ref: '#/components/schemas/ChallengeAttemptRequest' },
      { $ref: '#/components/schemas/RoundAttemptRequest' },
    ],
    description: 'Exactly one parent: a challenge, or a round.',
  },
);

export const reportOutcomeBody = component(
  'OutcomeRequest',
  z.object({
    score: z.number().openapi({ description: "The score, in the units of the challenge's or tournament's metric." }),
    tiebreak: z.number().optional().openapi({
      description: 'Required if the tournament declares a tiebreak metric. Ignored for attempts against a challenge.',
    }),
    evidence: opaqueObject(MAX_EVIDENCE_BYTES).optional(),
  }),
);

export const awardPayoutStatus = component('AwardPayoutStatus', z.enum(['paid', 'held']), {
  description:
    '`held`: the award is withheld for review, and no money has moved. Reconcile paid winnings on `paid`, never on the presence of an award.',
});

const awardFields = {
  id: uuid,
  amount,
  paid_at: timestamp.nullable().openapi({ description: 'Null while the award is held.' }),
};

const outcomeFields = {
  attempt_id: uuid,
  score: z.number(),
  met_threshold: z.boolean(),
  threshold_applied: z.number().nullable(),
  recorded_at: timestamp,
  receipt_id: uuid,
};

const award = component('Award', z.object({ ...awardFields, payout_status: awardPayoutStatus }));

export const outcomeSchema = component(
  'Outcome',
  z.object({
    ...outcomeFields,
    award: orNull(award).openapi({ description: 'Present only when the bar was cleared.' }),
  }),
);

const attemptAward = component('AttemptAward', z.object(awardFields), {
  description: 'An award as its attempt shows it.',
});

export const attemptOutcome = component(
  'AttemptOutcome',
  z.object({
    ...outcomeFields,
    award: orNull(attemptAward).openapi({ description: 'Present only when the bar was cleared.' }),
  }),
  { description: 'An outcome as its attempt shows it.' },
);

export const attemptStatus = component('AttemptStatus', z.enum(['open', 'settled', 'expired', 'voided']));

/** The fields that identify an attempt, and its status. */
export const attemptIdentityFields = {
  id: uuid,
  challenge_id: uuid.nullable().openapi({ description: 'Null for an attempt in a round.' }),
  tournament_round_id: uuid.nullable().openapi({ description: 'Null for an attempt against a challenge.' }),
  player_ref: z.string(),
  status: attemptStatus,
};

export const attemptSchema = component(
  'Attempt',
  z.object({
    ...attemptIdentityFields,
    fee_charged: amount.openapi({ description: 'The fee that was charged; `0.00` for a free attempt.' }),
    created_at: timestamp,
    metadata: z
      .record(z.string(), z.unknown())
      .openapi({ description: 'The metadata that was sent; `{}` if none was, or once the attempt is archived.' }),
    outcome: orNull(attemptOutcome).openapi({
      description: 'Null while the attempt is open, and if it ended without an outcome.',
    }),
  }),
);
