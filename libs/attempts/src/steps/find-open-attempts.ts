/**
 * Finds the attempts of a player that would accept a score now, for a report that names a player
 * instead of an attempt. The player is the account that the ref names now, whichever of the
 * account's refs created the attempt. Free attempts that the ref created before it was linked are
 * found by the ref.
 *
 * The contest reads its own state and the candidates: attempts that are not overdue, oldest first.
 * A `pending` candidate may already be paid for, because `open` is written after the response to a
 * creation; the wallet's row decides. One pair of statements reads for all concurrent queries.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { type Refused, refused } from '@laurel/errors';
import { isConnectionFailure } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { later } from '@laurel/values/instant';
import { type Environment, isSameTenant, type Tenant } from '@laurel/values/tenant';
import type { Contest, ContestState } from '../contest.ts';
import type { OpenCandidate, PlayerOfContest } from '../repository/open-candidates.ts';
import type { PendingAttempt } from '../repository/sweeps.ts';
import type { PendingResolver } from '../sweeps/resolve-pending.ts';
import type { Wallet } from '../wallet.ts';
import type { AttemptOpener } from './open-attempts.ts';

/**
 * The state of the contest (null if there is no such contest), and the player's candidates in it.
 */
type FoundCandidates = { readonly contest: ContestState | null; readonly candidates: readonly OpenCandidate[] };

export type CandidateReadBatches = Coalescer<PlayerOfContest, FoundCandidates>;

/**
 * If a player has one open attempt, a report means that attempt. A second open attempt makes the
 * report ambiguous, so no more attempts are read.
 */
const MAX_OPEN = 2;

export function createCandidateReadBatches({
  contest,
  attemptTtlMs,
  clock,
}: {
  readonly contest: Pick<Contest, 'loadStates' | 'loadOpenCandidates'>;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
}): CandidateReadBatches {
  return createCoalescer<PlayerOfContest, FoundCandidates>({
    name: 'find-open-attempts',
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(players) {
      const [states, candidates] = await Promise.all([
        contest.loadStates(players.map(({ contestId }) => contestId)),
        contest.loadOpenCandidates(players, later(clock(), -attemptTtlMs)),
      ]);
      return players.map(({ contestId }, index) => ({
        contest: states.get(contestId) ?? null,
        candidates: candidates[index] ?? [],
      }));
    },
  });
}

type KeepDeps = { readonly opener: AttemptOpener; readonly resolver: PendingResolver; readonly clock: Clock };

export type FindDeps = KeepDeps & {
  readonly candidates: CandidateReadBatches;
  readonly wallet: Pick<Wallet, 'resolvePlayer'>;
};

/**
 * Returns the ids of the open attempts, oldest first; none if the contest no longer accepts scores.
 */
export async function findOpen(
  { tenant, playerRef, contestId }: { readonly tenant: Tenant; readonly playerRef: string; readonly contestId: string },
  { candidates: reads, wallet, ...deps }: FindDeps,
): Promise<{ readonly attemptIds: string[]; readonly isCalibrating: boolean } | Refused> {
  const accountId = await wallet.resolvePlayer({ tenant, playerRef });
  const { contest, candidates } = await reads.submit({ contestId, accountId, playerRef });
  if (contest === null || !isSameTenant(contest.tenant, tenant)) return refused('not_found');
  const { takesScores, isCalibrating } = contest;
  return { attemptIds: takesScores ? await keepOpen(candidates, tenant.environment, deps) : [], isCalibrating };
}

async function keepOpen(
  candidates: readonly OpenCandidate[],
  environment: Environment,
  deps: KeepDeps,
): Promise<string[]> {
  const open: string[] = [];
  for (const candidate of candidates) {
    if (open.length === MAX_OPEN) break;
    if (!candidate.isPending || (await isPaid({ ...candidate, environment }, deps))) open.push(candidate.id);
  }
  return open;
}

async function isPaid(pending: PendingAttempt, { opener, resolver, clock }: KeepDeps): Promise<boolean> {
  if (opener.isKnownPosted(pending.id)) return true;
  const { resolution } = await resolver.resolve(pending, clock());
  return resolution.kind === 'posted';
}
