/** The failpoints of the challenge service. */

import { CHARGE_STEPS, PAYOUT_AND_REFUND_STEPS, REPLY_STEPS, RESERVE_STEPS } from '@laurel/attempts/failpoints';
import { OUTBOX_STEPS } from '@laurel/events/failpoints';
import { failpoint as passFailpoint, pointsOf } from '@laurel/failpoint';

export const FAILPOINTS = pointsOf('challenge', [
  ...RESERVE_STEPS,
  ...CHARGE_STEPS,
  'outcome.before-commit',
  'outcome.after-commit',
  'calibrate.before-commit',
  'calibrate.after-commit',
  'seed.before-commit',
  'seed.after-commit',
  'monitor.before-commit',
  'monitor.after-commit',
  'status.before-commit',
  'status.after-commit',
  ...PAYOUT_AND_REFUND_STEPS,
  ...OUTBOX_STEPS,
  ...REPLY_STEPS,
]);

export type FailpointName = (typeof FAILPOINTS)[number];

export const failpoint: (name: FailpointName) => void | Promise<void> = passFailpoint;
