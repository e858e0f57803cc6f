/** The steps of an outbox at which a test can make its contest service fail. */
import { failpoint as passFailpoint } from '@laurel/failpoint';
import type { ContestServiceName } from '@laurel/values/ids';

export const OUTBOX_STEPS = ['outbox.before-publish', 'outbox.after-publish'] as const;

export const failpoint: (name: `${ContestServiceName}.${(typeof OUTBOX_STEPS)[number]}`) => void | Promise<void> =
  passFailpoint;
