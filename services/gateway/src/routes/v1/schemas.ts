/** The shapes of `/v1`, in the contract's order. Routes check with them; the documents are generated from them. */
import { type ErrorCode, HTTP_STATUS } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import { hasNul, isAtMost, isJsonObject } from '@laurel/json';
import { isPlayerRef, MAX_PLAYER_REF_CHARACTERS } from '@laurel/tenant';
import { z } from '../../http/zod.ts';

const MAX_EMAIL_CHARACTERS = 320;
const MIN_SAMPLE_SIZE = 500;

function boundedText(characters: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => isAtMost(text, characters), `must have at most ${characters} characters`)
    .refine((text) => !hasNul(text), 'must not contain NUL');
}

/** An object that is stored as sent. Its own members are the partner's business. */
function opaqueObject(maxKibibytes: number) {
  return z.custom<object>(isJsonObject, 'must be an object').openapi({
    type: 'object',
    additionalProperties: true,
    description: `At most ${maxKibibytes} KiB, stored as sent.`,
  });
}

const id = z
  .string()
  .refine(isUuid, 'must be a uuid')
  .transform((value) => value.toLowerCase())
  .openapi({ type: 'string', format: 'uuid' });

export const playerRef = boundedText(MAX_PLAYER_REF_CHARACTERS).openapi({
  description: "The partner's own identifier of a player.",
  minLength: 1,
  maxLength: MAX_PLAYER_REF_CHARACTERS,
  example: 'player-7c1',
});

// Requests.

export const listChallengesQuery = z.object({
  player_ref: playerRef,
  status: z
    .enum(['all'], 'must be `all`, or absent')
    .optional()
    .openapi({ description: 'Absent: `live` challenges only. `all`: every status, with calibration progress.' }),
});

const percentile = z.number().openapi({ description: 'Each above the one before.' });

export const seedChallengeBody = z
  .object({
    distribution: z
      .object({ p5: percentile, p25: percentile, p50: percentile, p75: percentile, p95: percentile })
      .refine(({ p5, p25, p50, p75, p95 }) => p5 < p25 && p25 < p50 && p50 < p75 && p75 < p95, {
        message: 'must ascend strictly: p5, p25, p50, p75, p95',
      })
      .openapi('Distribution', { description: "Percentiles of the game's scores, in the units of the metric." }),
    sample_size: z
      .int()
      .min(MIN_SAMPLE_SIZE)
      .openapi({ description: 'How many scores the percentiles were taken of.', maximum: Number.MAX_SAFE_INTEGER }),
  })
  .openapi('DistributionRequest');

export const putPlayerBody = z
  .object({
    player_ref: playerRef,
    email: boundedText(MAX_EMAIL_CHARACTERS).openapi({
      description: "The e-mail of the player's existing account.",
      minLength: 1,
      maxLength: MAX_EMAIL_CHARACTERS,
      example: 'player@example.com',
    }),
  })
  .openapi('PlayerLinkRequest');

export const createAttemptBody = z
  .object({
    challenge_id: id.optional().openapi({ description: 'Exactly one of the two: a fixed-prize challenge.' }),
    tournament_round_id: id
      .optional()
      .openapi({ description: "Exactly one of the two: a place in a round's rank table." }),
    player_ref: playerRef,
    metadata: opaqueObject(16).optional(),
  })
  .refine((body) => (body.challenge_id === undefined) !== (body.tournament_round_id === undefined), {
    message: 'must have exactly one of `challenge_id` and `tournament_round_id`',
  })
  .openapi('AttemptRequest', {
    oneOf: [{ required: ['challenge_id'] }, { required: ['tournament_round_id'] }],
  });

export const reportOutcomeBody = z
  .object({
    score: z.number().openapi({ description: "In the units of the challenge's or tournament's metric." }),
    tiebreak: z.number().optional().openapi({
      description: 'Needed when the tournament declares a tiebreak metric. Ignored on challenge attempts.',
    }),
    evidence: opaqueObject(64).optional(),
  })
  .openapi('OutcomeRequest');

export const listTournamentsQuery = z.object({
  status: z
    .enum(['all'], 'must be `all`, or absent')
    .optional()
    .openapi({ description: 'Absent: `active` tournaments only. `all`: also paused and closed ones.' }),
});

export const getLeaderboardQuery = z.object({
  // A text that can be no player_ref is handled as an unknown one: the board is masked.
  player_ref: z
    .string()
    .default('')
    .transform((text) => (isPlayerRef(text) ? text : ''))
    .openapi({
      type: 'string',
      default: undefined,
      description: 'The player whom the board is rendered for. Without: masked.',
    }),
});

// Answers.

/** A union, because the documents would write a named schema that is nullable as null wherever it is referenced. */
function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}

export const uuid = z.string().openapi({ format: 'uuid' });
export const timestamp = z.string().openapi({ format: 'date-time', example: '2026-11-21T12:00:00.000Z' });
export const amount = z
  .string()
  .openapi({ pattern: '^(0|[1-9]\\d*)\\.\\d{2}$', example: '5.00', description: 'USD, two places.' });

export const challengeSchema = z
  .object({
    id: uuid.openapi({ description: 'Value sent as `challenge_id`.' }),
    name: z.string(),
    description: z.string().nullable(),
    fee: amount.openapi({ description: 'Cost of one paid attempt; `0.00` while calibrating.' }),
    prize: amount.openapi({ description: 'Prize on offer to this player now.' }),
    currency: z.literal('USD'),
    status: z.enum(['calibrating', 'live', 'suspended', 'closed']),
    prize_structure: z.enum(['threshold', 'top_n']),
    threshold: z.number().nullable().openapi({ description: 'The bar; null while calibrating.' }),
    min_calibration_n: z.int(),
    calibration_source: z.enum(['observed', 'listened', 'partner_seeded', 'rung_derived']),
    metric_name: z.string(),
    metric_unit: z.string(),
    rung: z.int().openapi({ description: 'Position in a ladder; `1` for an ordinary challenge.' }),
    parent_challenge_id: uuid.nullable(),
    ramp: z
      .object({
        active: z.literal(true),
        fullPrize: amount.openapi({ description: 'The prize once the cap has lifted.' }),
        attemptsSeen: z.int().openapi({ description: 'Settled paid attempts so far.' }),
        attemptsRequired: z.int(),
      })
      .optional()
      .openapi({ description: 'Present only while the go-live ramp caps the prize.' }),
    calibration: z
      .object({
        collected: z.int(),
        required: z.int(),
        playersCollected: z.int(),
        playersRequired: z.int(),
      })
      .optional()
      .openapi({ description: 'Present only while calibrating.' }),
  })
  .openapi('Challenge');

export const challengeListSchema = z.object({ data: z.array(challengeSchema) }).openapi('ChallengeList');

export const seededChallengeSchema = z
  .object({
    challenge_id: uuid,
    threshold: z.number().openapi({ description: 'The bar that follows.' }),
    target_pass_rate: z.number().openapi({ description: 'The share of attempts that are to clear it.' }),
    sample_size: z.int().openapi({ description: 'As sent.' }),
    calibration_source: z.literal('partner_seeded'),
    provisional: z.literal(true),
    note: z.string().openapi({ description: 'For people; its wording may change at any time.' }),
  })
  .openapi('SeededChallenge');

export const playerLinkSchema = z
  .object({ player_ref: z.string(), linked: z.literal(true), created_at: timestamp })
  .openapi('PlayerLink');

const award = z.object({
  id: uuid,
  amount,
  paid_at: timestamp.nullable(),
});

const outcomeFields = {
  attempt_id: uuid,
  score: z.number(),
  met_threshold: z.boolean(),
  threshold_applied: z.number().nullable(),
  recorded_at: timestamp,
  receipt_id: uuid,
};

export const outcomeSchema = z
  .object({
    ...outcomeFields,
    award: orNull(
      award
        .extend({
          payout_status: z
            .enum(['paid', 'held'])
            .openapi({ description: 'Reconcile paid winnings on `paid`, never on the presence of an award.' }),
        })
        .openapi('PaidAward'),
    ).openapi({ description: 'Present only when the bar was cleared.' }),
  })
  .openapi('Outcome');

export const attemptSchema = z
  .object({
    id: uuid,
    challenge_id: uuid.nullable(),
    tournament_round_id: uuid.nullable(),
    player_ref: z.string(),
    status: z.enum(['open', 'settled', 'expired', 'voided']),
    fee_charged: amount,
    created_at: timestamp,
    metadata: z.record(z.string(), z.unknown()),
    outcome: orNull(
      z.object({ ...outcomeFields, award: orNull(award.openapi('Award')) }).openapi('AttemptOutcome'),
    ).openapi({ description: 'Null while open, and for ever where there is none.' }),
  })
  .openapi('Attempt');

export const purse = {
  purse_amount: amount.openapi({ description: 'The sum of `purse_table`, frozen when the round opened.' }),
  purse_table: z.array(z.object({ rank: z.int(), amount }).openapi('PurseRow')),
};

export const roundSchema = z
  .object({
    id: uuid.openapi({ description: 'Value sent as `tournament_round_id`.' }),
    tournament_id: uuid,
    tournament_name: z.string().nullable(),
    status: z.enum(['open', 'settling', 'settled', 'cancelled']),
    opens_at: timestamp,
    closes_at: timestamp.openapi({ description: 'Scores are accepted until then, the instant excluded.' }),
    entries_close_at: timestamp.openapi({
      description: 'Entries and re-buys are accepted until then: ten minutes before `closes_at`.',
    }),
    settled_at: timestamp.nullable().openapi({ description: 'When standings became final.' }),
    entry_fee: amount,
    funding: z.literal('house'),
    ...purse,
    pool_amount: z.literal('0.00').openapi({ description: 'Legacy: never compute prizes from it.' }),
    rollover_in: z.literal('0.00').openapi({ description: 'Legacy.' }),
    entrant_count: z.int().openapi({
      description:
        'Distinct players with at least one attempt whose fee was not returned; once the round is over, those who scored.',
    }),
    attempt_cap: z.int().openapi({ description: 'Paid attempts per player in this round.' }),
    min_entrants: z.int(),
    min_scored_attempts: z.int().openapi({ description: '`0`: no gate.' }),
  })
  .openapi('Round');

export const tournamentSchema = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().nullable(),
    metric_name: z.string(),
    metric_unit: z.string(),
    threshold_direction: z.enum(['higher_is_better', 'lower_is_better']),
    entry_fee: amount.openapi({ description: 'Flat per attempt; entry and re-buy cost the same.' }),
    attempt_cap: z.int().openapi({ description: 'Paid attempts that one player may buy per round.' }),
    status: z.enum(['active', 'paused', 'closed']),
    created_at: timestamp,
    current_round: orNull(roundSchema).openapi({
      description: 'The open round, else the most recent one; null only before the first.',
    }),
  })
  .openapi('Tournament');

export const tournamentListSchema = z.object({ data: z.array(tournamentSchema) }).openapi('TournamentList');

const leaderboardRowSchema = z
  .object({
    rank: z.int().openapi({ description: 'Final once the round is `settled`.' }),
    player_ref: z.string(),
    best_score: z.number(),
    best_tiebreak: z.number().nullable().openapi({ description: 'Of the run that holds `best_score`.' }),
    best_score_at: timestamp,
    paid_attempts: z.int(),
    final_rank: z.int().nullable().openapi({ description: 'Null before settlement.' }),
    payout_amount: amount.nullable().openapi({ description: 'Null: not decided. `0.00`: decided to be nothing.' }),
    payout_status: z.enum(['none', 'paid', 'held', 'refunded']),
  })
  .openapi('LeaderboardRow');

const scoredPlayers = z
  .int()
  .openapi({ description: 'Distinct players who posted a score: the length of the full table.' });

const fullLeaderboardSchema = z
  .object({ round: roundSchema, scored_players: scoredPlayers, data: z.array(leaderboardRowSchema) })
  .openapi('Leaderboard');

const maskedLeaderboardSchema = z
  .object({
    locked: z.literal(true),
    reason: z.literal('enter_to_see'),
    round: roundSchema,
    entrant_count: z.int(),
    scored_players: scoredPlayers,
    min_entrants: z.int(),
    min_scored_attempts: z.int(),
    ...purse,
    closes_at: timestamp,
  })
  .openapi('MaskedLeaderboard');

export const leaderboardSchema = z.union([fullLeaderboardSchema, maskedLeaderboardSchema]);

/** Every code except that of the retired route, whose body has another shape. */
const ENVELOPE_CODES = Object.keys(HTTP_STATUS).filter(
  (code) => code !== 'client_reporting_removed' && code !== 'forbidden' && code !== 'conflict',
) as readonly ErrorCode[];

export const errorSchema = z
  .object({
    error: z.object({
      code: z.enum(ENVELOPE_CODES).openapi({ description: 'Branch on this, never on the message. The set is closed.' }),
      message: z.string().openapi({ description: 'For people; its wording may change at any time.' }),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .openapi('Error');

export const rateLimitSchema = z
  .object({ error: z.string(), retry_after: z.int(), limit: z.int(), reset_at: timestamp })
  .openapi('RateLimited');

export const retiredSchema = z
  .object({ error: z.string(), code: z.literal('client_reporting_removed') })
  .openapi('ClientReportingRemoved');

export const keyListSchema = z
  .object({
    keys: z.array(
      z.object({
        key_id: z.string().openapi({ description: 'The thumbprint of the key (RFC 7638), in base64url.' }),
        algorithm: z.literal('Ed25519'),
        public_key: z.string().openapi({ description: 'SPKI DER in base64.' }),
        from: timestamp.openapi({ description: 'When it was first used.' }),
        until: timestamp
          .nullable()
          .openapi({ description: 'When it was replaced; null while it is in use. It may lie a minute ahead.' }),
      }),
    ),
  })
  .openapi('KeyList');
