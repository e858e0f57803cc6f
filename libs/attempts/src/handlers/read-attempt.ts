/** The reads of one attempt that several rpcs share. */
import type { Attempt } from '@laurel/proto/attempts';
import type { Contest, FoundAttempt } from '../contest.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import type { AwardPayer } from '../steps/pay-awards.ts';
import { type RollForwardDeps, rereadAttempt, rollForward } from '../steps/roll-forward.ts';
import { presentAttempt } from './present.ts';

export type ReadDeps = RollForwardDeps & {
  readonly contest: Contest;
  readonly payer: AwardPayer;
};

/**
 * Applies the end of the contest to the attempt and returns the attempt. If the contest is over, an
 * attempt without an outcome is ended and its fee refunded, even if the contest's row is not closed
 * yet. Other work under way is left unchanged. Returns null if the attempt was never created.
 */
export async function endWithContest(
  { attempt, tenant, endedBy }: FoundAttempt,
  deps: ReadDeps,
): Promise<OwnedAttempt | null> {
  if (endedBy === null) return attempt;
  const { environment } = tenant;
  const paid = attempt.status === 'pending' ? await rollForward(attempt, environment, deps) : attempt;
  if (paid?.status !== 'open') return paid;
  await deps.expirer.expire(attempt.id, deps.clock(), { evenIfYoung: true, reason: endedBy });
  return rereadAttempt(attempt.id, environment, deps);
}

/**
 * Presents an attempt in a stable state, with its outcome. Rolls the attempt's award forward too.
 */
export async function presentWithOutcome(found: FoundAttempt, { contest, payer }: ReadDeps): Promise<Attempt> {
  const { id, status } = found.attempt;
  if (status !== 'settled') return presentAttempt(found, null);
  const [outcome, owed] = await Promise.all([contest.loadOutcome(id), contest.findAwardOf(id)]);
  return presentAttempt(found, { outcome, award: owed === null ? null : await payer.complete(owed) });
}
