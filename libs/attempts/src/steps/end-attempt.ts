/** Ends one open attempt before its deadline, and refunds its fee before the call is answered. */

import { type Refused, refused } from '@laurel/errors';
import type { Environment } from '@laurel/values/tenant';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import { type RollForwardDeps, rereadAttempt, rollForward } from './roll-forward.ts';

/**
 * Ends the attempt as if its deadline had passed. A repeat finds the attempt expired, and finishes
 * a refund that is still under way.
 */
export async function expireNow(
  found: OwnedAttempt,
  environment: Environment,
  deps: RollForwardDeps,
): Promise<OwnedAttempt | Refused> {
  const isUnderWay = found.status === 'expiring';
  const before = await rollForward(found, environment, deps);
  if (before === null) return refused('not_found');
  if (!isUnderWay) {
    if (before.status !== 'open') return refused('attempt_already_settled');
    await deps.expirer.expire(found.id, deps.clock(), { evenIfYoung: true });
  }
  const attempt = await rereadAttempt(found.id, environment, deps);
  if (attempt === null) return refused('not_found');
  // Another request recorded an outcome meanwhile: the outcome counts.
  return attempt.status === 'settled' ? refused('attempt_already_settled') : attempt;
}

/**
 * Voids the attempt for an operator. A repeat is not refused: it finishes an interrupted refund.
 */
export async function voidNow(
  found: OwnedAttempt,
  environment: Environment,
  reason: string,
  deps: RollForwardDeps,
): Promise<OwnedAttempt | Refused> {
  const isUnderWay = found.status === 'voiding';
  const before = await rollForward(found, environment, deps);
  if (before === null) return refused('not_found');
  if (!isUnderWay && !(await deps.expirer.voidAttempt(found.id, reason, deps.clock()))) {
    return refused('conflict', 'The attempt is not open.');
  }
  return (await rereadAttempt(found.id, environment, deps)) ?? refused('not_found');
}
