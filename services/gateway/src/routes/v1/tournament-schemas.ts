/**
 * The shapes of tournaments, rounds and leaderboards. Routes check with them; the documents are
 * generated from them.
 */
import { isPlayerRef } from '@laurel/values/tenant';
import { z } from '../../http/zod.ts';
import { component, orNull } from '../component.ts';
import { thresholdDirection } from './challenge-schemas.ts';
import { amount, timestamp, uuid } from './fields.ts';

export const listTournamentsQuery = z.object({
  status: z
    .enum(['all'], 'must be `all`, or absent')
    .optional()
    .openapi({ description: 'If absent, only `active` tournaments. `all`: also paused and closed ones.' }),
});

export const getLeaderboardQuery = z.object({
  // A text that cannot be a player_ref is handled as an unknown one: the board is masked.
  player_ref: z
    .string()
    .default('')
    .transform((text) => (isPlayerRef(text) ? text : ''))
    .openapi({
      type: 'string',
      default: undefined,
      description: 'The player for whom the board is shown. If absent, the board is masked.',
      example: 'player-7c1',
    }),
});

export const purseRow = component('PurseRow', z.object({ rank: z.int(), amount }));

export const purse = {
  purse_amount: amount.openapi({ description: 'The sum of `purse_table`, frozen when the round opened.' }),
  purse_table: z.array(purseRow),
};

export const roundSchema = component(
  'Round',
  z.object({
    id: uuid.openapi({ description: 'The value to send as `tournament_round_id`.' }),
    tournament_id: uuid,
    tournament_name: z.string().nullable(),
    status: component('RoundStatus', z.enum(['open', 'settling', 'settled', 'cancelled'])),
    opens_at: timestamp,
    closes_at: timestamp.openapi({ description: 'Scores are accepted before this instant.' }),
    entries_close_at: timestamp.openapi({
      description: 'Entries and re-buys are accepted before this instant, ten minutes before `closes_at`.',
    }),
    settled_at: timestamp.nullable().openapi({ description: 'When the standings became final.' }),
    entry_fee: amount,
    funding: z.literal('house'),
    ...purse,
    pool_amount: z.literal('0.00').openapi({ description: 'A legacy member: never compute prizes from it.' }),
    rollover_in: z.literal('0.00').openapi({ description: 'A legacy member.' }),
    entrant_count: z.int().openapi({
      description:
        'Distinct players with at least one attempt whose fee was not returned. Once the round is over: distinct players who scored.',
    }),
    attempt_cap: z.int().openapi({ description: 'Paid attempts that one player may buy in this round.' }),
    min_entrants: z.int(),
    min_scored_attempts: z.int().openapi({ description: '`0`: there is no minimum.' }),
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
    entry_fee: amount.openapi({ description: 'The fee of every attempt: an entry and a re-buy cost the same.' }),
    attempt_cap: z.int().openapi({ description: 'Paid attempts that one player may buy per round.' }),
    status: tournamentStatus,
    created_at: timestamp,
    current_round: orNull(roundSchema).openapi({
      description: 'The open round, or else the most recent one; null only before the first round.',
    }),
  }),
);

export const tournamentListSchema = component('TournamentList', z.object({ data: z.array(tournamentSchema) }));

export const leaderboardRowSchema = component(
  'LeaderboardRow',
  z.object({
    rank: z.int().openapi({ description: 'The rank, final once the round is `settled`.' }),
    player_ref: z.string(),
    best_score: z.number(),
    best_tiebreak: z.number().nullable().openapi({ description: 'The tiebreak of the run with `best_score`.' }),
    best_score_at: timestamp,
    paid_attempts: z.int(),
    final_rank: z.int().nullable().openapi({ description: 'The final rank; null before settlement.' }),
    payout_amount: orNull(amount).openapi({ description: 'Null: not yet decided. `0.00`: no payout.' }),
    payout_status: component('RankPayoutStatus', z.enum(['none', 'paid', 'held', 'refunded'])),
    is_player: z
      .literal(true)
      .optional()
      .openapi({ description: 'Present only in the row of the account that `player_ref` names now.' }),
  }),
);

export const scoredPlayers = z
  .int()
  .openapi({ description: 'Distinct players who posted a score: the length of the full table.' });

const fullLeaderboardSchema = component(
  'FullLeaderboard',
  z.object({ round: roundSchema, scored_players: scoredPlayers, data: z.array(leaderboardRowSchema) }),
  { description: 'The board for a player who has entered the round. It has no member `locked`.' },
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
  { description: 'The board for a player who has not entered, or without a `player_ref`. It has no member `data`.' },
);

export const leaderboardSchema = component('Leaderboard', z.union([fullLeaderboardSchema, maskedLeaderboardSchema]), {
  description: 'Only the masked board has the member `locked`.',
});
