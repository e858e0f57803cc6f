/** The failpoints in the steps of a paid attempt that both contest services share. */
import { failpoint as passFailpoint } from '@laurel/failpoint';
import type { ContestServiceName } from '@laurel/values/ids';

/** Failpoints in the commit of a reservation, on the optimistic path and under lock. */
export const RESERVE_STEPS = ['create.before-commit', 'create.after-commit'] as const;

/** Failpoints between the reservation of an attempt and its opening. */
export const CHARGE_STEPS = [
  'create.before-charge',
  'create.after-charge',
  'open.before-commit',
  'open.after-commit',
] as const;

/** Failpoints in payouts, expiries and refunds. */
export const PAYOUT_AND_REFUND_STEPS = [
  'award.before-pay',
  'award.after-pay',
  'award.before-commit',
  'award.after-commit',
  'expiry.before-commit',
  'expiry.after-commit',
  'refund.before-call',
  'refund.after-call',
  'refund.before-commit',
  'refund.after-commit',
] as const;

export const REPLY_STEPS = ['reply.before-send'] as const;

type Step = (typeof RESERVE_STEPS | typeof CHARGE_STEPS | typeof PAYOUT_AND_REFUND_STEPS | typeof REPLY_STEPS)[number];

export const failpoint: (name: `${ContestServiceName}.${Step}`) => void | Promise<void> = passFailpoint;
