/**
 * Tournaments, rounds and their boards as JSON (docs/contract/partner-api.md, "Tournament",
 * "Round", "Leaderboard row", "Masked leaderboard").
 */

import {
  ENVIRONMENTS,
  LEADERBOARD_PAYOUT_STATUSES,
  nameOf,
  ROUND_STATUSES,
  THRESHOLD_DIRECTIONS,
  TOURNAMENT_STATUSES,
} from '@laurel/proto/enum-names';
import type { InspectedStanding, LeaderboardRow, PurseRow, Round, Tournament } from '@laurel/proto/tournament';
import { formatAmount } from '@laurel/values/money';
import { timestamp } from './timestamp.ts';

/** The player entry id for a caller who is not a player: no row of the board is the caller's. */
export const NO_PLAYER = '';

/** The list item of `GET /v1/tournaments`. */
export function presentTournament(tournament: Tournament) {
  const terms = termsOf(tournament);
  return {
    id: tournament.id,
    name: terms.name,
    description: terms.description ?? null,
    metric_name: terms.metricName,
    metric_unit: terms.metricUnit,
    threshold_direction: nameOf(THRESHOLD_DIRECTIONS, terms.thresholdDirection),
    entry_fee: formatAmount(terms.entryFeeCents),
    attempt_cap: terms.attemptCap,
    status: nameOf(TOURNAMENT_STATUSES, tournament.status),
    created_at: timestamp(tournament.createdAt),
    current_round: tournament.currentRound === undefined ? null : presentRound(tournament.currentRound),
  };
}

/**
 * The list item and everything that the operator set; each round freezes these terms when it opens.
 */
export function presentOperatorTournament(tournament: Tournament) {
  const terms = termsOf(tournament);
  const { tiebreak } = terms;
  if (tournament.tenant === undefined) throw new Error('the tournament service sent a tournament without its tenant');
  return {
    ...presentTournament(tournament),
    program_id: tournament.tenant.programId,
    environment: nameOf(ENVIRONMENTS, tournament.tenant.environment),
    tiebreak_metric_name: tiebreak?.metricName ?? null,
    tiebreak_direction: tiebreak === undefined ? null : nameOf(THRESHOLD_DIRECTIONS, tiebreak.direction),
    ...purseFields(terms.purseTable),
    min_entrants: terms.minEntrants,
    min_scored_attempts: terms.minScoredAttempts,
    round_length_seconds: terms.roundLengthSeconds ?? null,
  };
}

export function presentRound(round: Round) {
  return {
    id: round.id,
    tournament_id: round.tournamentId,
    tournament_name: round.tournamentName,
    status: nameOf(ROUND_STATUSES, round.status),
    opens_at: timestamp(round.opensAt),
    closes_at: timestamp(round.closesAt),
    entries_close_at: timestamp(round.entriesCloseAt),
    settled_at: round.settledAt === undefined ? null : timestamp(round.settledAt),
    entry_fee: formatAmount(round.entryFeeCents),
    funding: 'house' as const,
    ...purseFields(round.purseTable),
    // The next two members are kept so that older parsers do not break.
    pool_amount: '0.00',
    rollover_in: '0.00',
    entrant_count: round.entrantCount,
    attempt_cap: round.attemptCap,
    min_entrants: round.minEntrants,
    min_scored_attempts: round.minScoredAttempts,
  };
}

/** The round as operators see it: with its program, environment and cancellation. */
export function presentOperatorRound(round: Round) {
  const { tenant, cancellation } = round;
  if (tenant === undefined) throw new Error('the tournament service sent a round without its tenant');
  return {
    ...presentRound(round),
    program_id: tenant.programId,
    environment: nameOf(ENVIRONMENTS, tenant.environment),
    cancellation:
      cancellation === undefined
        ? null
        : {
            cancelled_at: timestamp(cancellation.cancelledAt),
            operator: cancellation.operator,
            reason: cancellation.reason,
          },
  };
}

/**
 * A row of the standings as operators see it: with its account, and the award that names its
 * payout.
 */
export function presentInspectedStanding({ row, accountId, awardId, bestAttemptId }: InspectedStanding) {
  if (row === undefined) throw new Error('the tournament service sent a standing without its row');
  return {
    ...presentLeaderboardRow(row, NO_PLAYER),
    account_id: accountId,
    award_id: awardId === '' ? null : awardId,
    best_attempt_id: bestAttemptId,
  };
}

/** A round's board for a caller without an entry: counts, and no rows. */
export function presentMaskedLeaderboard(round: Round, scoredPlayers: number) {
  return {
    locked: true as const,
    reason: 'enter_to_see' as const,
    round: presentRound(round),
    entrant_count: round.entrantCount,
    scored_players: scoredPlayers,
    min_entrants: round.minEntrants,
    min_scored_attempts: round.minScoredAttempts,
    ...purseFields(round.purseTable),
    closes_at: timestamp(round.closesAt),
  };
}

/** `playerEntryId` is the entry of the player who reads the board; empty if there is none. */
export function presentLeaderboardRow(row: LeaderboardRow, playerEntryId: string) {
  return {
    rank: Number(row.rank),
    player_ref: row.playerRef,
    best_score: row.bestScore,
    best_tiebreak: row.bestTiebreak ?? null,
    best_score_at: timestamp(row.bestScoreAt),
    paid_attempts: row.paidAttempts,
    final_rank: row.finalRank === undefined ? null : Number(row.finalRank),
    payout_amount: row.payoutCents === undefined ? null : formatAmount(row.payoutCents),
    payout_status: nameOf(LEADERBOARD_PAYOUT_STATUSES, row.payoutStatus),
    ...(playerEntryId !== '' && row.entryId === playerEntryId && { is_player: true }),
  };
}

function purseFields(purseTable: readonly PurseRow[]) {
  let purseCents = 0n;
  for (const { amountCents } of purseTable) purseCents += amountCents;
  return {
    purse_amount: formatAmount(purseCents),
    purse_table: purseTable.map(({ rank, amountCents }) => ({ rank, amount: formatAmount(amountCents) })),
  };
}

function termsOf(tournament: Tournament) {
  if (tournament.terms === undefined) throw new Error('the tournament service sent a tournament without its terms');
  return tournament.terms;
}
