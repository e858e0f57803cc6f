/**
 * The authoritative read of one attempt, as several calls answer it. What lies between two commits is rolled forward first: a reader
 * never sees a state that a crash could take back, and `expired` or `voided` always means that the fee is back.
 */
import { afterRefund, isDue, isVisible } from '@laurel/attempt';
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Attempt as AttemptMessage } from '@laurel/proto/challenge';
import type { Clock } from '@laurel/service';
import type { Attempt } from '../domain/challenge.ts';
import { findAttempt } from '../repository/attempts.ts';
import { loadAwards } from '../repository/awards.ts';
import { loadOutcomes } from '../repository/outcomes.ts';
import type { AttemptExpirer } from '../workers/expire-attempts.ts';
import type { AttemptOpener } from '../workers/open-attempts.ts';
import type { AwardPayer } from '../workers/pay-awards.ts';
import type { PendingResolver } from '../workers/resolve-pending.ts';
import { presentAttempt } from './present.ts';

export type ReadDeps = {
  database: Database;
  opener: AttemptOpener;
  resolver: PendingResolver;
  expirer: AttemptExpirer;
  payer: AwardPayer;
  attemptTtlMs: number;
  clock: Clock;
};

/** The attempt, as it was just read, in a state that lasts; null where there is none to show. */
export async function rollForward(found: Attempt, deps: ReadDeps): Promise<Attempt | null> {
  const now = deps.clock();
  let attempt: Attempt | null = found;
  if (attempt.status === 'pending') {
    if (!deps.opener.isKnownPosted(attempt.id)) {
      const { resolution, written } = await deps.resolver.resolve(attempt, now);
      if (resolution.kind !== 'posted') return null;
      await written;
    }
    attempt = { ...attempt, status: 'open' };
  }
  if (attempt.status === 'open' && isDue(attempt.createdAt, deps.attemptTtlMs, now)) {
    await deps.expirer.expire(attempt.id, now);
    attempt = await reload(attempt.id, deps);
  }
  const ended = attempt === null ? null : afterRefund(attempt.status);
  if (attempt !== null && ended !== null) {
    await deps.expirer.refund(attempt, ended);
    attempt = { ...attempt, status: ended };
  }
  return attempt !== null && isVisible(attempt.status) ? attempt : null;
}

/** An attempt that was rolled forward, with its outcome; its award is rolled forward too. */
export async function presentWithOutcome(attempt: Attempt, { database, payer }: ReadDeps): Promise<AttemptMessage> {
  if (attempt.status !== 'settled') return presentAttempt(attempt, null, null);
  const [outcomes, awards] = await Promise.all([
    loadOutcomes(database, [attempt.id]),
    loadAwards(database, [attempt.id]),
  ]);
  const outcome = outcomes.get(attempt.id);
  if (outcome === undefined) throw new Error(`attempt ${attempt.id} is settled without an outcome`);
  const owed = awards.get(attempt.id);
  return presentAttempt(attempt, outcome, owed === undefined ? null : await payer.settle(owed));
}

/** The attempt as it is now, after the caller has changed it. */
export async function rereadAttempt(attemptId: string, deps: ReadDeps): Promise<AttemptMessage | Refused> {
  const found = await reload(attemptId, deps);
  const attempt = found === null ? null : await rollForward(found, deps);
  return attempt === null ? refused('not_found') : presentWithOutcome(attempt, deps);
}

async function reload(attemptId: string, { database }: ReadDeps): Promise<Attempt | null> {
  return (await findAttempt(database, attemptId))?.attempt ?? null;
}
