/** The types and the pure rules of the attempt lifecycle: what an owner's own domain may import. */

export { ENVIRONMENTS, type Environment, isSameTenant, type Tenant } from '@laurel/tenant';
export type {
  AwardStatus,
  OwedAward,
  PayableAward,
  PayoutOf,
  PayoutRecord,
  PrizeOf,
} from './award.ts';
export type { Finding } from './finding.ts';
export type { KeyUse, RecordedKeyUse } from './key-use.ts';
export { oneForEachPlayer } from './one-for-each-player.ts';
export { ABANDONED, feeOf, type OwnedAttempt } from './owned-attempt.ts';
export type { NamedAccount, Player, Requirement } from './player.ts';
