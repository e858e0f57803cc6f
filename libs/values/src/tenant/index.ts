export {
  type ByteBudgets,
  createByteBudgets,
  createTenantBudgets,
  SECONDS_HELD,
  type TenantBudgets,
} from './byte-budgets.ts';
export { isPlayerRef, MAX_PLAYER_REF_CHARACTERS } from './player-ref.ts';
export { ENVIRONMENTS, type Environment, isSameTenant, type Tenant } from './tenant.ts';
export { type Bucket, type BucketLevel, bytesAt, msUntilRefilled } from './token-bucket.ts';
