/** The read of one attempt that several calls share: in a stable state, and with its outcome. */
import { type AttemptExpirer, type RollForwardDeps, readAgain, rollForward } from '@laurel/attempts';
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
 * The attempt after the end of its round is applied to it: one that has no outcome by then is over and its fee is returned, whether or not
 * the round's row is closed yet. Any other work that is under way is left unchanged; null where the attempt was never created.
 */
export async function endWithRound({ attempt, round }: AttemptInRound, deps: ReadDeps): Promise<Attempt | null> {
  const ended = endOf(attempt, round, { ttlMs: deps.attemptTtlMs, now: deps.clock() });
  if (ended !== 'round') return attempt;
  const { environment } = round.tenant;
  const paid = attempt.status === 'pending' ? await rollForward(attempt, environment, deps) : attempt;
  if (paid?.status !== 'open') return paid;
  await deps.expirer.expire(attempt.id, deps.clock(), { evenIfYoung: true, reason: 'round_closed' });
  return readAgain(attempt.id, environment, deps);
}

export async function presentWithOutcome(
  attempt: Attempt,
  { database }: Pick<ReadDeps, 'database'>,
): Promise<AttemptMessage> {
  if (attempt.status !== 'settled') return presentAttempt(attempt, null);
  return presentAttempt(attempt, await loadOutcome(database, attempt.id));
}
