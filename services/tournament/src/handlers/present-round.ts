/** Maps tournaments, rounds and rows of a board to messages. */
import { presentTenant } from '@laurel/grpc';
import {
  LEADERBOARD_PAYOUT_STATUSES,
  ROUND_STATUSES,
  THRESHOLD_DIRECTIONS,
  TOURNAMENT_STATUSES,
} from '@laurel/proto/enum-names';
import type {
  LeaderboardRow as LeaderboardRowMessage,
  PurseRow,
  Round as RoundMessage,
  Tournament as TournamentMessage,
} from '@laurel/proto/tournament';
import type { InspectedRow } from '../domain/inspected-standings.ts';
import { shownRoundStatus } from '../domain/round-status.ts';
import type * as domain from '../domain/tournament.ts';
import type { RoundWithTally } from '../repository/rounds.ts';
import type { TournamentWithRound } from '../repository/tournaments.ts';

export function presentTournament({ tournament, currentRound }: TournamentWithRound): TournamentMessage {
  const { terms, tenant } = tournament;
  const { tiebreak } = terms;
  return {
    id: tournament.id,
    tenant: presentTenant(tenant),
    terms: {
      name: terms.name,
      description: terms.description ?? undefined,
      metricName: terms.metricName,
      metricUnit: terms.metricUnit,
      thresholdDirection: THRESHOLD_DIRECTIONS[terms.direction],
      tiebreak:
        tiebreak === null
          ? undefined
          : { metricName: tiebreak.metricName, direction: THRESHOLD_DIRECTIONS[tiebreak.direction] },
      entryFeeCents: terms.entryFeeCents,
      attemptCap: terms.attemptCap,
      purseTable: presentPurse(terms.purse),
      minEntrants: terms.minEntrants,
      minScoredAttempts: terms.minScoredAttempts,
      roundLengthSeconds: terms.roundLengthSeconds ?? undefined,
    },
    status: TOURNAMENT_STATUSES[tournament.status],
    createdAt: tournament.createdAt,
    currentRound: currentRound === null ? undefined : presentRound(currentRound),
  };
}

export function presentRound({ round, tally }: RoundWithTally): RoundMessage {
  const { terms, cancellation } = round;
  return {
    id: round.id,
    tenant: presentTenant(round.tenant),
    tournamentId: round.tournamentId,
    tournamentName: round.tournamentName,
    status: ROUND_STATUSES[shownRoundStatus(round.status)],
    opensAt: round.opensAt,
    closesAt: round.closesAt,
    entriesCloseAt: round.entriesCloseAt,
    settledAt: round.settledAt ?? undefined,
    entryFeeCents: terms.entryFeeCents,
    purseTable: presentPurse(terms.purse),
    entrantCount: tally.entrants,
    attemptCap: terms.attemptCap,
    minEntrants: terms.minEntrants,
    minScoredAttempts: terms.minScoredAttempts,
    cancellation:
      cancellation === null
        ? undefined
        : { cancelledAt: cancellation.at, operator: cancellation.by, reason: cancellation.reason },
  };
}

export function presentLeaderboardRow(row: InspectedRow): LeaderboardRowMessage {
  return {
    rank: BigInt(row.rank),
    playerRef: row.playerRef,
    bestScore: row.bestScore,
    bestTiebreak: row.bestTiebreak ?? undefined,
    bestScoreAt: row.bestScoreAt,
    paidAttempts: row.paidAttempts,
    finalRank: row.finalRank === null ? undefined : BigInt(row.finalRank),
    payoutCents: row.payoutCents ?? undefined,
    payoutStatus: LEADERBOARD_PAYOUT_STATUSES[row.payoutStatus],
    entryId: row.entryId,
  };
}

function presentPurse(purse: domain.Purse): PurseRow[] {
  return purse.map((amountCents, index) => ({ rank: index + 1, amountCents }));
}
