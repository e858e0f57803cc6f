/** FindOpenAttempts, as libs/attempts/src/steps/find-open-attempts.ts describes it. A round that is over has none. */

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
import type { OpenAttemptQuery, TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock, Logger } from '@laurel/service';
import { acceptsScores } from '../domain/round-status.ts';
import { loadOpenCandidates } from '../repository/open-attempts.ts';
import { loadRoundEnds, type RoundEnd } from '../repository/rounds.ts';

type Deps = {
  readonly reads: CandidateReads<RoundEnd>;
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
}): CandidateReads<RoundEnd> {
  return createCandidateReads(deps, {
    loadContests: (ids) => loadRoundEnds(database, ids),
    loadCandidates: (players, after) => loadOpenCandidates(database, players, after),
  });
}

export function findOpenAttempts(deps: Deps): Handlers<TournamentServiceService>['findOpenAttempts'] {
  const options = { owner: 'tournament', logger: deps.logger, failure: 'open attempts were not found out' } as const;
  return ({ queries }) => answerItems(queries, (query) => findOne(query, deps), options);
}

async function findOne({ playerRef, ...query }: OpenAttemptQuery, deps: Deps) {
  const asked = { tenant: parseTenant(query.tenant), playerRef, contestId: parseId(query.roundId) };
  const found = await findOpen(asked, deps, acceptsScores);
  if (isRefused(found)) return found;
  return { $case: 'found' as const, value: { attemptIds: found.attemptIds } };
}
