/** The contract's words for the enums of `proto/`. One table serves both ways, so that they cannot part. */
import { CalibrationSource, ChallengeStatus, PrizeStructure, ThresholdDirection } from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { RoundStatus, PayoutStatus as RowPayoutStatus, TournamentStatus } from '@laurel/proto/tournament';
import { PayoutStatus } from '@laurel/proto/wallet';
import { DeliveryStatus } from '@laurel/proto/webhook';

export const ENVIRONMENTS = { test: Environment.TEST, live: Environment.LIVE } as const;

export const CHALLENGE_STATUSES = {
  calibrating: ChallengeStatus.CALIBRATING,
  live: ChallengeStatus.LIVE,
  suspended: ChallengeStatus.SUSPENDED,
  closed: ChallengeStatus.CLOSED,
} as const;

export const PRIZE_STRUCTURES = {
  threshold: PrizeStructure.THRESHOLD,
  top_n: PrizeStructure.TOP_N,
} as const;

/** Of challenges and of tournaments: both services number them alike (`wire-names.test.ts` holds them to it). */
export const THRESHOLD_DIRECTIONS = {
  higher_is_better: ThresholdDirection.HIGHER_IS_BETTER,
  lower_is_better: ThresholdDirection.LOWER_IS_BETTER,
} as const;

export const CALIBRATION_SOURCES = {
  observed: CalibrationSource.OBSERVED,
  listened: CalibrationSource.LISTENED,
  partner_seeded: CalibrationSource.PARTNER_SEEDED,
  rung_derived: CalibrationSource.RUNG_DERIVED,
} as const;

export const TOURNAMENT_STATUSES = {
  active: TournamentStatus.ACTIVE,
  paused: TournamentStatus.PAUSED,
  closed: TournamentStatus.CLOSED,
} as const;

export const ROUND_STATUSES = {
  open: RoundStatus.OPEN,
  settling: RoundStatus.SETTLING,
  settled: RoundStatus.SETTLED,
  cancelled: RoundStatus.CANCELLED,
} as const;

/** Of a row of a leaderboard. */
export const ROW_PAYOUT_STATUSES = {
  none: RowPayoutStatus.NONE,
  paid: RowPayoutStatus.PAID,
  held: RowPayoutStatus.HELD,
  refunded: RowPayoutStatus.REFUNDED,
} as const;

/** Of a payout as the wallet keeps it. */
export const PAYOUT_STATUSES = {
  paid: PayoutStatus.PAID,
  held: PayoutStatus.HELD,
  denied: PayoutStatus.DENIED,
} as const;

export const DELIVERY_STATUSES = {
  pending: DeliveryStatus.PENDING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
} as const;

/** The word for a value; a value without one is a bug of the service that sent it. */
export function nameOf<Name extends string>(table: Readonly<Record<Name, number>>, value: number): Name {
  for (const name of Object.keys(table) as Name[]) if (table[name] === value) return name;
  throw new Error(`${value} is none of ${Object.keys(table).join(', ')}`);
}
