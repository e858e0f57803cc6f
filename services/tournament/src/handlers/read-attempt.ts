/** One attempt as several calls answer it: in a state that lasts, and with its outcome. */
import { type AttemptExpirer, type RollForwardDeps, readAgain, rollForward } from '@laurel/money-path';
import type { Database } from '@laurel/postgres';
import type { Attempt as AttemptMessage } from '@laurel/proto/tournament';
import { endOf } from '../domain/outcome-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import type { AttemptInRound } from '../repository/attempts.ts';
import { loadOutcome } from '../repository/outcomes.ts';
import { presentAttempt } from './present-attempt.ts';

export type ReadDeps = Omit<RollForwardDeps<Attempt>, 'expirer'> & {
  database: Database;
  expirer: AttemptExpirer<'round_closed'>;
};

/**
 * The attempt with what the end of its round does to it: one that has no outcome by then is over and its fee goes back, whether or not
 * anybody has closed the round yet. Whatever else is under way is left as it is; null where the attempt never came to be.
 */
export async function endWithRound({ attempt, round }: AttemptInRound, deps: ReadDeps): Promise<Attempt | null> {
  const ended = endOf(attempt, round, { ttlMs: deps.attemptTtlMs, now: deps.clock() });
  if (ended !== 'round') return attempt;
  const paid = attempt.status === 'pending' ? await rollForward(attempt, deps) : attempt;
  if (paid?.status !== 'open') return paid;
  await deps.expirer.expire(attempt.id, deps.clock(), { evenIfYoung: true, reason: 'round_closed' });
  return readAgain(attempt.id, deps);
}

export async function presentWithOutcome(attempt: Attempt, { database }: ReadDeps): Promise<AttemptMessage> {
  if (attempt.status !== 'settled') return presentAttempt(attempt, null);
  return presentAttempt(attempt, await loadOutcome(database, attempt.id));
}
