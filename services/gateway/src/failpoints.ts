/** The points of the gateway service at which a test injects a fault. */
import { failpoint as passFailpoint, pointsOf } from '@laurel/failpoint';

export const FAILPOINTS = pointsOf('gateway', [
  'lock.before-commit',
  'lock.after-commit',
  'create.before-call',
  'create.after-call',
  'outcome.before-call',
  'outcome.after-call',
  'seed.before-call',
  'seed.after-call',
  'push.before-call',
  'push.after-call',
  'complete.before-commit',
  'complete.after-commit',
  'reply.before-send',
  'reply.after-send',
  'action.before-intent',
  'action.after-intent',
  'action.before-result',
  'action.after-result',
  'developer.after-commit',
  'developer.after-announcement',
]);

export type FailpointName = (typeof FAILPOINTS)[number];

export const failpoint: (name: FailpointName) => void | Promise<void> = passFailpoint;
