/** FindOpenAttempts, as libs/attempts/src/steps/find-open-attempts.ts describes it. */

import {
  type AttemptOpener,
  answerItems,
  type CandidateReads,
  createCandidateReads,
  findOpen,
  type PendingResolver,
  type Wallet,
} from '@laurel/attempts';
import { isRefused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService, OpenAttemptQuery } from '@laurel/proto/challenge';
import type { Clock, Logger } from '@laurel/service';
import { statusOf } from '../domain/bar.ts';
import type { Challenge } from '../domain/challenge.ts';
import { loadChallenges } from '../repository/challenges.ts';
import { loadOpenCandidates } from '../repository/open-attempts.ts';

type Deps = {
  readonly reads: CandidateReads<Challenge>;
  readonly wallet: Wallet;
  readonly opener: AttemptOpener;
  readonly resolver: PendingResolver;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function createOpenAttemptReads({
  database,
  ...deps
}: {
  readonly database: Database;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
}): CandidateReads<Challenge> {
  return createCandidateReads(deps, {
    async loadContests(ids) {
      const challenges = await loadChallenges(database, ids);
      return new Map([...challenges].map(([id, { challenge }]) => [id, challenge]));
    },
    loadCandidates: (players, after) => loadOpenCandidates(database, players, after),
  });
}

export function findOpenAttempts(deps: Deps): Handlers<ChallengeServiceService>['findOpenAttempts'] {
  const options = { owner: 'challenge', logger: deps.logger, failure: 'open attempts were not found out' } as const;
  return ({ queries }) => answerItems(queries, (query) => findOne(query, deps), options);
}

async function findOne({ playerRef, ...query }: OpenAttemptQuery, deps: Deps) {
  const asked = { tenant: parseTenant(query.tenant), playerRef, contestId: parseId(query.challengeId) };
  // An open attempt accepts its score whatever the status of its challenge.
  const found = await findOpen(asked, deps, () => true);
  if (isRefused(found)) return found;
  const { contest, attemptIds } = found;
  return { $case: 'found' as const, value: { attemptIds, isCalibrating: statusOf(contest) === 'calibrating' } };
}
