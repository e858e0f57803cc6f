/** The points at which a test can make the integration service fail. */
import { failpoint as passFailpoint, pointsOf } from '@laurel/failpoint';

export const FAILPOINTS = pointsOf('integration', [
  'bind.before-commit',
  'bind.after-commit',
  'settle.before-call',
  'settle.after-call',
  'listen.before-commit',
  'listen.after-commit',
  'forward.before-call',
  'forward.after-call',
  'push.before-answer',
  'poll.before-lease',
  'poll.after-lease',
  'poll.before-request',
  'poll.after-request',
  'poll.before-commit',
  'poll.after-commit',
  'log.before-commit',
  'log.after-commit',
]);

export type FailpointName = (typeof FAILPOINTS)[number];

export const failpoint: (name: FailpointName) => void | Promise<void> = passFailpoint;
