/**
 * The contract's names for the enums of `proto/`; nothing else maps one to the other. A service
 * presents with `CHALLENGE_STATUSES[name]` and parses with `nameOf` or `findName`, so the two
 * directions cannot diverge. A value without a name (`UNSPECIFIED`, or one of a newer release) is
 * not in these tables.
 */
import { AttemptFactKind, AttemptStatus, AwardStatus } from './generated/laurel/attempts/v1/attempts.ts';
import {
  CalibrationSource,
  ChallengeStatus,
  PrizeStructure,
  ScoreSource,
  ThresholdDirection,
} from './generated/laurel/challenge/v1/challenge.ts';
import { Environment, ItemKind } from './generated/laurel/common/v1/common.ts';
import { PayoutStatus as EventPayoutStatus, RefundReason } from './generated/laurel/events/v1/events.ts';
import { IntegrationStatus, LogKind, RecordStatus, Transport } from './generated/laurel/integration/v1/integration.ts';
import {
  RoundStatus,
  PayoutStatus as RowPayoutStatus,
  TournamentStatus,
} from './generated/laurel/tournament/v1/tournament.ts';
import { AccountFlag, PayoutStatus } from './generated/laurel/wallet/v1/wallet.ts';
import { DeliveryStatus } from './generated/laurel/webhook/v1/webhook.ts';

export const ENVIRONMENTS = { test: Environment.TEST, live: Environment.LIVE } as const;

export const ATTEMPT_STATUSES = {
  open: AttemptStatus.OPEN,
  settled: AttemptStatus.SETTLED,
  expired: AttemptStatus.EXPIRED,
  voided: AttemptStatus.VOIDED,
} as const;

/** The kinds of facts in the timeline of an attempt. */
export const ATTEMPT_FACTS = {
  created: AttemptFactKind.CREATED,
  fee_charged: AttemptFactKind.FEE_CHARGED,
  settled: AttemptFactKind.SETTLED,
  award_paid: AttemptFactKind.AWARD_PAID,
  award_held: AttemptFactKind.AWARD_HELD,
  award_released: AttemptFactKind.AWARD_RELEASED,
  award_denied: AttemptFactKind.AWARD_DENIED,
  expired: AttemptFactKind.EXPIRED,
  voided: AttemptFactKind.VOIDED,
  fee_refunded: AttemptFactKind.FEE_REFUNDED,
} as const;

/** The `payout_status` of an award. */
export const AWARD_STATUSES = {
  paid: AwardStatus.PAID,
  held: AwardStatus.HELD,
} as const;

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

/** Both contest services use the same numbers (`enum-names.test.ts`). */
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

export const SCORE_SOURCES = {
  bar_samples: ScoreSource.BAR_SAMPLES,
  paid_attempts: ScoreSource.PAID_ATTEMPTS,
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

/** The payout status in a row of a leaderboard; only operators read `denied`. */
export const LEADERBOARD_PAYOUT_STATUSES = {
  none: RowPayoutStatus.NONE,
  paid: RowPayoutStatus.PAID,
  held: RowPayoutStatus.HELD,
  refunded: RowPayoutStatus.REFUNDED,
  denied: RowPayoutStatus.DENIED,
} as const;

/** The status of a payout as the wallet stores it. */
export const PAYOUT_STATUSES = {
  paid: PayoutStatus.PAID,
  held: PayoutStatus.HELD,
  denied: PayoutStatus.DENIED,
} as const;

/** Why an account may not play, or its wins are held. */
export const ACCOUNT_FLAGS = {
  enforcement_flag: AccountFlag.ENFORCEMENT_FLAG,
  under_investigation: AccountFlag.UNDER_INVESTIGATION,
  blocked: AccountFlag.BLOCKED,
  self_excluded: AccountFlag.SELF_EXCLUDED,
} as const;

/** The payout status of an award in an event. */
export const EVENT_PAYOUT_STATUSES = {
  paid: EventPayoutStatus.PAID,
  held: EventPayoutStatus.HELD,
} as const;

/** Why a fee was refunded. */
export const REFUND_REASONS = {
  expired: RefundReason.EXPIRED,
  voided: RefundReason.VOIDED,
  round_closed: RefundReason.ROUND_CLOSED,
  round_cancelled: RefundReason.ROUND_CANCELLED,
} as const;

export const DELIVERY_STATUSES = {
  pending: DeliveryStatus.PENDING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
} as const;

export const TRANSPORTS = {
  push_webhook: Transport.PUSH_WEBHOOK,
  pull_poll: Transport.PULL_POLL,
  sdk_direct: Transport.SDK_DIRECT,
} as const;

export const INTEGRATION_STATUSES = {
  draft: IntegrationStatus.DRAFT,
  active: IntegrationStatus.ACTIVE,
  suspended: IntegrationStatus.SUSPENDED,
} as const;

/** The result of a record in a pushed or polled body. */
export const RECORD_STATUSES = {
  settled: RecordStatus.SETTLED,
  duplicate: RecordStatus.DUPLICATE,
  ignored: RecordStatus.IGNORED,
  rejected: RecordStatus.REJECTED,
  listened: RecordStatus.LISTENED,
} as const;

/** What an entry of an integration's log records. */
export const LOG_KINDS = {
  push: LogKind.PUSH,
  poll: LogKind.POLL,
} as const;

/** What an id can name in a service that is not the gateway. */
export const ITEM_KINDS = {
  attempt: ItemKind.ATTEMPT,
  receipt: ItemKind.RECEIPT,
  challenge: ItemKind.CHALLENGE,
  tournament: ItemKind.TOURNAMENT,
  round: ItemKind.ROUND,
  account: ItemKind.ACCOUNT,
  award: ItemKind.AWARD,
  delivery: ItemKind.DELIVERY,
  event: ItemKind.EVENT,
} as const;

/** The name of a value; undefined for one without. */
export function findName<Name extends string>(table: Readonly<Record<Name, number>>, value: number): Name | undefined {
  for (const name of Object.keys(table) as Name[]) if (table[name] === value) return name;
  return undefined;
}

/** The name of a value. A value without a name is a bug of the service that sent it. */
export function nameOf<Name extends string>(table: Readonly<Record<Name, number>>, value: number): Name {
  const name = findName(table, value);
  if (name === undefined) throw new Error(`${value} is not one of ${Object.keys(table).join(', ')}`);
  return name;
}
