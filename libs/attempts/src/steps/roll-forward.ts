/**
 * The authoritative read of one attempt. If the attempt is in a state between two commits, the read
 * first rolls it forward. So a reader never sees a state that a crash could undo, and `expired` or
 * `voided` always means that the fee has been refunded.
 */

import type { Clock } from '@laurel/service';
import type { Environment } from '@laurel/values/tenant';
import { afterRefund, isVisible } from '../domain/attempt.ts';
import { isDue } from '../domain/attempt-expiry.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import type { AttemptExpirer } from '../sweeps/expire-attempts.ts';
import type { PendingResolver } from '../sweeps/resolve-pending.ts';
import type { AttemptOpener } from './open-attempts.ts';

export type RollForwardDeps = {
  opener: AttemptOpener;
  resolver: PendingResolver;
  expirer: AttemptExpirer;
  attemptTtlMs: number;
  clock: Clock;
  /** The attempt as stored now. */
  loadAttempt(id: string): Promise<OwnedAttempt | null>;
};

/**
 * Rolls an attempt that was just read forward to a stable state; null if the attempt must not be
 * shown.
 */
export async function rollForward(
  found: OwnedAttempt,
  environment: Environment,
  deps: RollForwardDeps,
): Promise<OwnedAttempt | null> {
  const now = deps.clock();
  let attempt: OwnedAttempt | null = found;
  if (attempt.status === 'pending') {
    if (!deps.opener.isKnownPosted(attempt.id)) {
      const { resolution, written } = await deps.resolver.resolve({ ...attempt, environment }, now);
      if (resolution.kind !== 'posted') return null;
      await written;
    }
    attempt = { ...attempt, status: 'open' };
  }
  if (attempt.status === 'open' && isDue(attempt.createdAt, deps.attemptTtlMs, now)) {
    await deps.expirer.expire(attempt.id, now);
    attempt = await deps.loadAttempt(attempt.id);
  }
  const ended = attempt === null ? null : afterRefund(attempt.status);
  if (attempt !== null && ended !== null) {
    await deps.expirer.refund(attempt, environment);
    attempt = { ...attempt, status: ended };
  }
  return attempt !== null && isVisible(attempt.status) ? attempt : null;
}

/** Reads an attempt again and rolls it forward, for a caller that has changed the attempt. */
export async function rereadAttempt(
  id: string,
  environment: Environment,
  deps: RollForwardDeps,
): Promise<OwnedAttempt | null> {
  const found = await deps.loadAttempt(id);
  return found === null ? null : rollForward(found, environment, deps);
}
