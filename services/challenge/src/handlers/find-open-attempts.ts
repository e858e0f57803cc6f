/** FindOpenAttempts, as libs/attempt-lifecycle/src/find-open-attempts.ts describes it. Concurrent queries are read by one pair of statements. */

import {
  type AttemptOpener,
  answerItems,
  keepOpen,
  type OpenCandidate,
  type PendingResolver,
  type Wallet,
} from '@laurel/attempt-lifecycle';
import { isSameTenant } from '@laurel/attempt-lifecycle/domain';
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { ChallengeServiceService, OpenAttemptQuery } from '@laurel/proto/challenge';
import type { Clock, Logger } from '@laurel/service';
import { statusOf } from '../domain/bar.ts';
import type { Challenge } from '../domain/challenge.ts';
import { loadChallenges } from '../repository/challenges.ts';
import { loadOpenCandidates, type PlayerOfChallenge } from '../repository/open-attempts.ts';

type FoundCandidates = { readonly challenge: Challenge | null; readonly candidates: readonly OpenCandidate[] };

export type OpenAttemptReads = Coalescer<PlayerOfChallenge, FoundCandidates>;

type Deps = {
  readonly reads: OpenAttemptReads;
  readonly wallet: Wallet;
  readonly opener: AttemptOpener;
  readonly resolver: PendingResolver;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function createOpenAttemptReads({
  database,
  attemptTtlMs,
  clock,
}: {
  readonly database: Database;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
}): OpenAttemptReads {
  return createCoalescer<PlayerOfChallenge, FoundCandidates>({
    name: 'find-open-attempts',
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(players) {
      const ids = players.map(({ challengeId }) => challengeId);
      const [challenges, candidates] = await Promise.all([
        loadChallenges(database, ids),
        loadOpenCandidates(database, players, new Date(clock().getTime() - attemptTtlMs)),
      ]);
      return players.map(({ challengeId }, index) => ({
        challenge: challenges.get(challengeId)?.challenge ?? null,
        candidates: candidates[index] ?? [],
      }));
    },
  });
}

export function findOpenAttempts(deps: Deps): Handlers<ChallengeServiceService>['findOpenAttempts'] {
  const options = { owner: 'challenge', logger: deps.logger, failure: 'open attempts were not found out' } as const;
  return ({ queries }) => answerItems(queries, (query) => findOne(query, deps), options);
}

async function findOne(query: OpenAttemptQuery, { reads, wallet, opener, resolver, clock }: Deps) {
  const { playerRef } = query;
  const tenant = parseTenant(query.tenant);
  const challengeId = parseId(query.challengeId);
  const accountId = await wallet.resolvePlayer({ tenant, playerRef });
  const { challenge, candidates } = await reads.submit({ challengeId, accountId, playerRef });
  if (challenge === null || !isSameTenant(challenge.tenant, tenant)) return refused('not_found');
  const attemptIds = await keepOpen(candidates, { opener, resolver, now: clock() });
  return { $case: 'found' as const, value: { attemptIds, isCalibrating: statusOf(challenge) === 'calibrating' } };
}
