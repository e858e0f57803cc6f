/** The failpoints of the tournament service. */

import { CHARGE_STEPS, PAYOUT_AND_REFUND_STEPS, REPLY_STEPS, RESERVE_STEPS } from '@laurel/attempts/failpoints';
import { OUTBOX_STEPS } from '@laurel/events/failpoints';
import { failpoint as passFailpoint, pointsOf } from '@laurel/failpoint';

export const FAILPOINTS = pointsOf('tournament', [
  ...RESERVE_STEPS,
  ...CHARGE_STEPS,
  'outcome.before-commit',
  'outcome.after-commit',
  ...PAYOUT_AND_REFUND_STEPS,
  ...OUTBOX_STEPS,
  ...REPLY_STEPS,
  'annul.before-commit',
  'annul.after-commit',
  'close.before-commit',
  'close.after-commit',
  'seal.before-commit',
  'seal.after-commit',
  'cancel.before-commit',
  'cancel.after-commit',
  'round.before-commit',
  'round.after-commit',
]);

export type FailpointName = (typeof FAILPOINTS)[number];

export const failpoint: (name: FailpointName) => void | Promise<void> = passFailpoint;
