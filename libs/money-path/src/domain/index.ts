/** The words of the money path, and its pure rules: what an owner's own domain may import. */
export type {
  AwardStatus,
  OwedAward,
  PayableAward,
  PayoutOf,
  PayoutRecord,
  PrizeOf,
} from './award.ts';
export type { Finding } from './finding.ts';
export { ABANDONED, feeTransferOf, type OwnedAttempt } from './owned-attempt.ts';
export type { NamedAccount, Player, Requirement } from './player.ts';
export type { RefundReason, RoundReason, StatusReason } from './refund.ts';
export { type Environment, isSameTenant, type Tenant } from './tenant.ts';
