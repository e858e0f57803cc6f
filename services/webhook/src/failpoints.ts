/** The points at which a test makes the webhook service fail. */
import { failpoint as passFailpoint, pointsOf } from '@laurel/failpoint';

export const FAILPOINTS = pointsOf('webhook', [
  'take.before-commit',
  'take.after-commit',
  'claim.before-commit',
  'claim.after-commit',
  'send.before-request',
  'send.after-request',
  'record.before-commit',
  'record.after-commit',
]);

export type FailpointName = (typeof FAILPOINTS)[number];

export const failpoint: (name: FailpointName) => void | Promise<void> = passFailpoint;
