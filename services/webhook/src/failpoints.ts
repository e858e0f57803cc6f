/** The points at which a test can make the webhook service fail. */
import { failpoint as passFailpoint, pointsOf } from '@laurel/failpoint';

export const FAILPOINTS = pointsOf('webhook', [
  'consume.before-commit',
  'consume.after-commit',
  'lease.before-commit',
  'lease.after-commit',
  'send.before-request',
  'send.after-request',
  'record.before-commit',
  'record.after-commit',
]);

export type FailpointName = (typeof FAILPOINTS)[number];

export const failpoint: (name: FailpointName) => void | Promise<void> = passFailpoint;
