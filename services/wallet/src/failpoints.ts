/** The points at which a test can make the wallet fail. */
import { failpoint as passFailpoint, pointsOf } from '@laurel/failpoint';

export const FAILPOINTS = pointsOf('wallet', [
  'charge.before-commit',
  'charge.after-commit',
  'refund.before-commit',
  'refund.after-commit',
  'payout.before-commit',
  'payout.after-commit',
  'resolve.before-commit',
  'resolve.after-commit',
  'release.before-commit',
  'release.after-commit',
  'reply.before-send',
]);

export type FailpointName = (typeof FAILPOINTS)[number];

export const failpoint: (name: FailpointName) => void | Promise<void> = passFailpoint;
