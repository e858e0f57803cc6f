/** Tournaments, rounds and rows of a board, from the words of the domain to messages. */
import { Environment } from '@laurel/proto/common';
import {
  type LeaderboardRow as LeaderboardRowMessage,
  PayoutStatus,
  type PurseRow,
  type Round as RoundMessage,
  RoundStatus,
  ThresholdDirection,
  type Tournament as TournamentMessage,
  TournamentStatus,
} from '@laurel/proto/tournament';
import type { LeaderboardRow } from '../domain/leaderboard-view.ts';
import { type ShownRoundStatus, shownRoundStatus } from '../domain/round-status.ts';
import type * as domain from '../domain/tournament.ts';
import type { RoundWithTally } from '../repository/rounds.ts';
import type { TournamentWithRound } from '../repository/tournaments.ts';

const TOURNAMENT_STATUS: Record<domain.TournamentStatus, TournamentStatus> = {
  active: TournamentStatus.ACTIVE,
  paused: TournamentStatus.PAUSED,
  closed: TournamentStatus.CLOSED,
};

const ROUND_STATUS: Record<ShownRoundStatus, RoundStatus> = {
  open: RoundStatus.OPEN,
  settling: RoundStatus.SETTLING,
  settled: RoundStatus.SETTLED,
  cancelled: RoundStatus.CANCELLED,
};

const PAYOUT_STATUS: Record<domain.PayoutStatus, PayoutStatus> = {
  none: PayoutStatus.NONE,
  paid: PayoutStatus.PAID,
  held: PayoutStatus.HELD,
  refunded: PayoutStatus.REFUNDED,
};

const DIRECTION: Record<domain.Direction, ThresholdDirection> = {
  higher_is_better: ThresholdDirection.HIGHER_IS_BETTER,
  lower_is_better: ThresholdDirection.LOWER_IS_BETTER,
};

export function presentTournament({ tournament, currentRound }: TournamentWithRound): TournamentMessage {
  const { terms, tenant } = tournament;
  const { tiebreak } = terms;
  return {
    id: tournament.id,
    tenant: {
      programId: tenant.programId,
      environment: tenant.environment === 'live' ? Environment.LIVE : Environment.TEST,
    },
    terms: {
      name: terms.name,
      description: terms.description ?? undefined,
      metricName: terms.metricName,
      metricUnit: terms.metricUnit,
      thresholdDirection: DIRECTION[terms.direction],
      tiebreak:
        tiebreak === null ? undefined : { metricName: tiebreak.metricName, direction: DIRECTION[tiebreak.direction] },
      entryFeeCents: terms.entryFeeCents,
      attemptCap: terms.attemptCap,
      purseTable: presentPurse(terms.purse),
      minEntrants: terms.minEntrants,
      minScoredAttempts: terms.minScoredAttempts,
      roundLengthSeconds: terms.roundLengthSeconds ?? undefined,
    },
    status: TOURNAMENT_STATUS[tournament.status],
    createdAt: tournament.createdAt,
    currentRound: currentRound === null ? undefined : presentRound(currentRound),
  };
}

export function presentRound({ round, tally }: RoundWithTally): RoundMessage {
  const { terms } = round;
  return {
    id: round.id,
    tournamentId: round.tournamentId,
    tournamentName: round.tournamentName,
    status: ROUND_STATUS[shownRoundStatus(round.status)],
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
  };
}

export function presentRow(row: LeaderboardRow): LeaderboardRowMessage {
  return {
    rank: BigInt(row.rank),
    playerRef: row.playerRef,
    bestScore: row.bestScore,
    bestTiebreak: row.bestTiebreak ?? undefined,
    bestScoreAt: row.bestScoreAt,
    paidAttempts: row.paidAttempts,
    finalRank: row.finalRank === null ? undefined : BigInt(row.finalRank),
    payoutCents: row.payoutCents ?? undefined,
    payoutStatus: PAYOUT_STATUS[row.payoutStatus],
  };
}

function presentPurse(purse: domain.Purse): PurseRow[] {
  return purse.map((amountCents, index) => ({ rank: index + 1, amountCents }));
}
