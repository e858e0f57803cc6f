/** A tournament and its round as their service returns them, for tests. */
import { Environment } from '@laurel/proto/common';
import {
  type Round,
  RoundStatus,
  ThresholdDirection,
  type Tournament,
  TournamentStatus,
} from '@laurel/proto/tournament';

export const atMinute = (minute: number) => new Date(Date.UTC(2026, 10, 21, 12, minute));

const TENANT = { programId: '0199aaaa-0000-7000-8000-000000000002', environment: Environment.LIVE };

export const ROUND: Round = {
  id: '0199aaaa-0000-7000-8000-000000000003',
  tenant: TENANT,
  tournamentId: '0199aaaa-0000-7000-8000-000000000001',
  tournamentName: 'Cup',
  status: RoundStatus.OPEN,
  opensAt: atMinute(0),
  closesAt: atMinute(30),
  entriesCloseAt: atMinute(20),
  settledAt: undefined,
  entryFeeCents: 250n,
  purseTable: [
    { rank: 1, amountCents: 10_000n },
    { rank: 2, amountCents: 5_005n },
  ],
  entrantCount: 4,
  attemptCap: 3,
  minEntrants: 2,
  minScoredAttempts: 0,
  cancellation: undefined,
};

export const TOURNAMENT: Tournament = {
  id: ROUND.tournamentId,
  tenant: TENANT,
  terms: {
    name: 'Cup',
    description: undefined,
    metricName: 'time',
    metricUnit: 'ms',
    thresholdDirection: ThresholdDirection.LOWER_IS_BETTER,
    tiebreak: { metricName: 'coins', direction: ThresholdDirection.HIGHER_IS_BETTER },
    entryFeeCents: 250n,
    attemptCap: 3,
    purseTable: ROUND.purseTable,
    minEntrants: 2,
    minScoredAttempts: 0,
    roundLengthSeconds: undefined,
  },
  status: TournamentStatus.ACTIVE,
  createdAt: atMinute(0),
  currentRound: undefined,
};
