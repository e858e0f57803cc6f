/**
 * Which attempts of a player would accept a score now, for a report that names its player instead of its attempt. The player is the account
 * that the ref names now, whichever of its refs made the attempt; and the ref itself for free attempts from before it was linked.
 *
 * The owner reads the contest and the candidates: those that are not overdue, oldest first. One that is still `pending` may be paid for
 * already, because `open` is written after the answer to a creation; the wallet decides. Concurrent queries are read by one pair of
 * statements.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { type Refused, refused } from '@laurel/errors';
import { isConnectionFailure } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { type Environment, isSameTenant, type Tenant } from '@laurel/tenant';
import type { OpenCandidate, PlayerOfContest } from '../repository/open-candidates.ts';
import type { PendingAttempt } from '../repository/sweeps.ts';
import type { PendingResolver } from '../sweeps/resolve-pending.ts';
import type { Wallet } from '../wallet.ts';
import type { AttemptOpener } from './open-attempts.ts';

/** The contest, null where there is none, and the candidates of one player in it. */
type FoundCandidates<Contest> = { readonly contest: Contest | null; readonly candidates: readonly OpenCandidate[] };

export type CandidateReads<Contest> = Coalescer<PlayerOfContest, FoundCandidates<Contest>>;

/** The owner's part in the reads. */
export type CandidateTables<Contest> = {
  loadContests(ids: readonly string[]): Promise<ReadonlyMap<string, Contest>>;
  /** Of each player, in order, those that were created after this instant, oldest first. */
  loadCandidates(players: readonly PlayerOfContest[], after: Date): Promise<readonly (readonly OpenCandidate[])[]>;
};

/** One is the attempt that a report means; a second one is enough to know that it is not the only one. */
const MAX_OPEN = 2;

export function createCandidateReads<Contest>(
  { attemptTtlMs, clock }: { readonly attemptTtlMs: number; readonly clock: Clock },
  { loadContests, loadCandidates }: CandidateTables<Contest>,
): CandidateReads<Contest> {
  return createCoalescer<PlayerOfContest, FoundCandidates<Contest>>({
    name: 'find-open-attempts',
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(players) {
      const [contests, candidates] = await Promise.all([
        loadContests(players.map(({ contestId }) => contestId)),
        loadCandidates(players, new Date(clock().getTime() - attemptTtlMs)),
      ]);
      return players.map(({ contestId }, index) => ({
        contest: contests.get(contestId) ?? null,
        candidates: candidates[index] ?? [],
      }));
    },
  });
}

type KeepDeps = { readonly opener: AttemptOpener; readonly resolver: PendingResolver; readonly clock: Clock };

type FindDeps<Contest> = KeepDeps & {
  readonly reads: CandidateReads<Contest>;
  readonly wallet: Pick<Wallet, 'resolvePlayer'>;
};

/** The ids of the open ones, oldest first: none where the contest accepts no score any more. */
export async function findOpen<Contest extends { readonly tenant: Tenant }>(
  { tenant, playerRef, contestId }: { readonly tenant: Tenant; readonly playerRef: string; readonly contestId: string },
  { reads, wallet, opener, resolver, clock }: FindDeps<Contest>,
  acceptsScores: (contest: Contest, now: Date) => boolean,
): Promise<{ readonly contest: Contest; readonly attemptIds: string[] } | Refused> {
  const accountId = await wallet.resolvePlayer({ tenant, playerRef });
  const { contest, candidates } = await reads.submit({ contestId, accountId, playerRef });
  if (contest === null || !isSameTenant(contest.tenant, tenant)) return refused('not_found');
  if (!acceptsScores(contest, clock())) return { contest, attemptIds: [] };
  return { contest, attemptIds: await keepOpen(candidates, tenant.environment, { opener, resolver, clock }) };
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
