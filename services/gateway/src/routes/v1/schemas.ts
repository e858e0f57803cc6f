/** The shapes of `/v1`, in the contract's order. Routes check with them; the documents are generated from them. */
import { MAX_EVIDENCE_BYTES, MAX_METADATA_BYTES } from '@laurel/attempts/domain';
import { isUuid } from '@laurel/ids';
import { hasNul, isAtMost, isJsonObject } from '@laurel/json';
import { isPlayerRef, MAX_PLAYER_REF_CHARACTERS } from '@laurel/tenant';
import { z } from '../../http/zod.ts';
import { component, orNull } from '../component.ts';

/** More than an account's address may have (@laurel/limits): what no account can have is not found, as any other that none has. */
const MAX_LOOKED_UP_EMAIL_CHARACTERS = 320;
const MIN_SAMPLE_SIZE = 500;

function boundedText(characters: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => isAtMost(text, characters), `must have at most ${characters} characters`)
    .refine((text) => !hasNul(text), 'must not contain NUL');
}

/** An object that is stored as sent. Its own members are the partner's business. */
function opaqueObject(maxBytes: number) {
  return z.custom<object>(isJsonObject, 'must be an object').openapi({
    type: 'object',
    additionalProperties: true,
    description: `At most ${maxBytes / 1024} KiB, stored as sent.`,
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

const distribution = component(
  'Distribution',
  z
    .object({ p5: percentile, p25: percentile, p50: percentile, p75: percentile, p95: percentile })
    .refine(({ p5, p25, p50, p75, p95 }) => p5 < p25 && p25 < p50 && p50 < p75 && p75 < p95, {
      message: 'must ascend strictly: p5, p25, p50, p75, p95',
    }),
  { description: "Percentiles of the game's scores, in the units of the metric." },
);

export const seedDistributionBody = component(
  'DistributionRequest',
  z.object({
    distribution,
    sample_size: z
      .int()
      .min(MIN_SAMPLE_SIZE)
      .openapi({ description: 'How many scores the percentiles were taken of.', maximum: Number.MAX_SAFE_INTEGER }),
  }),
);

export const linkPlayerBody = component(
  'PlayerLinkRequest',
  z.object({
    player_ref: playerRef,
    email: boundedText(MAX_LOOKED_UP_EMAIL_CHARACTERS).openapi({
      description: "The e-mail of the player's existing account.",
      minLength: 1,
      maxLength: MAX_LOOKED_UP_EMAIL_CHARACTERS,
      example: 'player@example.com',
    }),
  }),
);

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
    score: z.number().openapi({ description: "In the units of the challenge's or tournament's metric." }),
    tiebreak: z.number().optional().openapi({
      description: 'Needed when the tournament declares a tiebreak metric. Ignored on challenge attempts.',
    }),
    evidence: opaqueObject(MAX_EVIDENCE_BYTES).optional(),
  }),
);

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
      example: 'player-7c1',
    }),
});

// Answers.

export const uuid = z.string().openapi({ format: 'uuid' });
export const timestamp = z.string().openapi({ format: 'date-time', example: '2026-11-21T12:00:00.000Z' });
export const amount = component('Amount', z.string(), {
  pattern: '^(0|[1-9]\\d*)\\.\\d{2}$',
  example: '5.00',
  description: 'USD, a decimal string with two places: never a JSON number.',
});

export const challengeStatus = component('ChallengeStatus', z.enum(['calibrating', 'live', 'suspended', 'closed']));
export const prizeStructure = component('PrizeStructure', z.enum(['threshold', 'top_n']), {
  description: '`threshold`: one bar for every player. `top_n`: the bar is the n-th best score so far.',
});
export const thresholdDirection = component('ThresholdDirection', z.enum(['higher_is_better', 'lower_is_better']), {
  description: 'Which of two scores is the better one.',
});

const ramp = component(
  'Ramp',
  z.object({
    active: z.literal(true),
    fullPrize: amount.openapi({ description: 'The prize once the cap has lifted.' }),
    attemptsSeen: z.int().openapi({ description: 'Settled paid attempts so far.' }),
    attemptsRequired: z.int(),
  }),
  { description: "A challenge's go-live ramp, which caps its prize." },
);

const calibrationProgress = component(
  'CalibrationProgress',
  z.object({
    collected: z.int().openapi({ description: 'Scores so far.' }),
    required: z.int(),
    playersCollected: z.int().openapi({ description: 'Players who gave them.' }),
    playersRequired: z.int(),
  }),
);

export const challengeSchema = component(
  'Challenge',
  z.object({
    id: uuid.openapi({ description: 'Value sent as `challenge_id`.' }),
    name: z.string(),
    description: z.string().nullable(),
    fee: amount.openapi({ description: 'Cost of one paid attempt; `0.00` while calibrating.' }),
    prize: amount.openapi({ description: 'Prize on offer to this player now.' }),
    currency: z.literal('USD'),
    status: challengeStatus,
    prize_structure: prizeStructure,
    threshold: z.number().nullable().openapi({ description: 'The bar; null while calibrating.' }),
    min_calibration_n: z.int(),
    calibration_source: component(
      'CalibrationSource',
      z.enum(['observed', 'listened', 'partner_seeded', 'rung_derived']),
      { description: 'What placed the bar, or is to place it.' },
    ),
    metric_name: z.string(),
    metric_unit: z.string(),
    rung: z.int().openapi({ description: 'Position in a ladder; `1` for an ordinary challenge.' }),
    parent_challenge_id: uuid.nullable(),
    ramp: ramp.optional().openapi({ description: 'Present only while the go-live ramp caps the prize.' }),
    calibration: calibrationProgress.optional().openapi({ description: 'Present only while calibrating.' }),
  }),
);

export const challengeListSchema = component('ChallengeList', z.object({ data: z.array(challengeSchema) }));

export const distributionResultSchema = component(
  'DistributionResult',
  z.object({
    challenge_id: uuid,
    threshold: z.number().openapi({ description: 'The bar that follows.' }),
    target_pass_rate: z.number().openapi({ description: 'The share of attempts that are to clear it.' }),
    sample_size: z.int().openapi({ description: 'As sent.' }),
    calibration_source: z.literal('partner_seeded'),
    provisional: z.literal(true),
    note: z.string().openapi({ description: 'For people; its wording may change at any time.' }),
  }),
);

export const playerLinkSchema = component(
  'PlayerLink',
  z.object({ player_ref: z.string(), linked: z.literal(true), created_at: timestamp }),
);

export const awardPayoutStatus = component('AwardPayoutStatus', z.enum(['paid', 'held']), {
  description:
    '`held`: withheld for review, and no money moved. Reconcile paid winnings on `paid`, never on the presence of an award.',
});

const awardFields = {
  id: uuid,
  amount,
  paid_at: timestamp.nullable().openapi({ description: 'Null while it is held.' }),
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

const attemptOutcome = component(
  'AttemptOutcome',
  z.object({
    ...outcomeFields,
    award: orNull(attemptAward).openapi({ description: 'Present only when the bar was cleared.' }),
  }),
  { description: 'An outcome as its attempt shows it.' },
);

export const attemptSchema = component(
  'Attempt',
  z.object({
    id: uuid,
    challenge_id: uuid.nullable().openapi({ description: 'Null for an attempt in a round.' }),
    tournament_round_id: uuid.nullable().openapi({ description: 'Null for an attempt against a challenge.' }),
    player_ref: z.string(),
    status: component('AttemptStatus', z.enum(['open', 'settled', 'expired', 'voided'])),
    fee_charged: amount.openapi({ description: 'What was charged; `0.00` for a free attempt.' }),
    created_at: timestamp,
    metadata: z.record(z.string(), z.unknown()).openapi({ description: 'As sent; `{}` if none was.' }),
    outcome: orNull(attemptOutcome).openapi({ description: 'Null while open, and for ever where there is none.' }),
  }),
);

export const purseRow = component('PurseRow', z.object({ rank: z.int(), amount }));

export const purse = {
  purse_amount: amount.openapi({ description: 'The sum of `purse_table`, frozen when the round opened.' }),
  purse_table: z.array(purseRow),
};

export const roundSchema = component(
  'Round',
  z.object({
    id: uuid.openapi({ description: 'Value sent as `tournament_round_id`.' }),
    tournament_id: uuid,
    tournament_name: z.string().nullable(),
    status: component('RoundStatus', z.enum(['open', 'settling', 'settled', 'cancelled'])),
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
  }),
);

export const tournamentStatus = component('TournamentStatus', z.enum(['active', 'paused', 'closed']));

export const tournamentSchema = component(
  'Tournament',
  z.object({
    id: uuid,
    name: z.string(),
    description: z.string().nullable(),
    metric_name: z.string(),
    metric_unit: z.string(),
    threshold_direction: thresholdDirection,
    entry_fee: amount.openapi({ description: 'Flat per attempt; entry and re-buy cost the same.' }),
    attempt_cap: z.int().openapi({ description: 'Paid attempts that one player may buy per round.' }),
    status: tournamentStatus,
    created_at: timestamp,
    current_round: orNull(roundSchema).openapi({
      description: 'The open round, else the most recent one; null only before the first.',
    }),
  }),
);

export const tournamentListSchema = component('TournamentList', z.object({ data: z.array(tournamentSchema) }));

const leaderboardRowSchema = component(
  'LeaderboardRow',
  z.object({
    rank: z.int().openapi({ description: 'Final once the round is `settled`.' }),
    player_ref: z.string(),
    best_score: z.number(),
    best_tiebreak: z.number().nullable().openapi({ description: 'Of the run that holds `best_score`.' }),
    best_score_at: timestamp,
    paid_attempts: z.int(),
    final_rank: z.int().nullable().openapi({ description: 'Null before settlement.' }),
    payout_amount: orNull(amount).openapi({ description: 'Null: not decided. `0.00`: decided to be nothing.' }),
    payout_status: component('RankPayoutStatus', z.enum(['none', 'paid', 'held', 'refunded'])),
    is_player: z
      .literal(true)
      .optional()
      .openapi({ description: 'Only in the row of the account that `player_ref` names now.' }),
  }),
);

const scoredPlayers = z
  .int()
  .openapi({ description: 'Distinct players who posted a score: the length of the full table.' });

const fullLeaderboardSchema = component(
  'FullLeaderboard',
  z.object({ round: roundSchema, scored_players: scoredPlayers, data: z.array(leaderboardRowSchema) }),
  { description: 'For a player who has entered the round. It has no member `locked`.' },
);

const maskedLeaderboardSchema = component(
  'MaskedLeaderboard',
  z.object({
    locked: z.literal(true),
    reason: z.literal('enter_to_see'),
    round: roundSchema,
    entrant_count: z.int(),
    scored_players: scoredPlayers,
    min_entrants: z.int(),
    min_scored_attempts: z.int(),
    ...purse,
    closes_at: timestamp,
  }),
  { description: 'For a player who has not entered, and without a player. It has no member `data`.' },
);

export const leaderboardSchema = component('Leaderboard', z.union([fullLeaderboardSchema, maskedLeaderboardSchema]), {
  description: 'Only the masked one has the member `locked`.',
});

export const rateLimitSchema = component(
  'RateLimitResponse',
  z.object({
    error: z.string().openapi({ description: 'For people; its wording may change at any time.' }),
    retry_after: z.int().openapi({ description: 'Seconds until it is worth asking again.' }),
    limit: z.int().openapi({ description: 'Requests that a minute has.' }),
    reset_at: timestamp,
  }),
);

export const retiredSchema = component(
  'ClientReportingRemoved',
  z.object({ error: z.string(), code: z.literal('client_reporting_removed') }),
);

const signingKeySchema = component(
  'SigningKey',
  z.object({
    key_id: z.string().openapi({ description: 'The thumbprint of the key (RFC 7638), in base64url.' }),
    algorithm: z.literal('Ed25519'),
    public_key: z.string().openapi({ description: 'SPKI DER in base64.' }),
    from: timestamp.openapi({ description: 'When it was first used.' }),
    until: timestamp
      .nullable()
      .openapi({ description: 'When it was replaced; null while it is in use. It may lie a minute ahead.' }),
  }),
);

export const keyListSchema = component('SigningKeyList', z.object({ keys: z.array(signingKeySchema) }));
