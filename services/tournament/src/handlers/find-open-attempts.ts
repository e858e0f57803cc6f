/**
 * FindOpenAttempts, as libs/attempt-lifecycle/src/find-open-attempts.ts describes it. A round that is over has none. Concurrent queries are
 * read by one pair of statements.
 */

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
import type { OpenAttemptQuery, TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock, Logger } from '@laurel/service';
import { acceptsScores } from '../domain/round-status.ts';
import { loadOpenCandidates, type PlayerOfRound } from '../repository/open-attempts.ts';
import { loadRoundEnds, type RoundEnd } from '../repository/rounds.ts';

type FoundCandidates = { readonly round: RoundEnd | null; readonly candidates: readonly OpenCandidate[] };

export type OpenAttemptReads = Coalescer<PlayerOfRound, FoundCandidates>;

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
  return createCoalescer<PlayerOfRound, FoundCandidates>({
    name: 'find-open-attempts',
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(players) {
      const ids = players.map(({ roundId }) => roundId);
      const [rounds, candidates] = await Promise.all([
        loadRoundEnds(database, ids),
        loadOpenCandidates(database, players, new Date(clock().getTime() - attemptTtlMs)),
      ]);
      return players.map(({ roundId }, index) => ({
        round: rounds.get(roundId) ?? null,
        candidates: candidates[index] ?? [],
      }));
    },
  });
}

export function findOpenAttempts(deps: Deps): Handlers<TournamentServiceService>['findOpenAttempts'] {
  const options = { owner: 'tournament', logger: deps.logger, failure: 'open attempts were not found out' } as const;
  return ({ queries }) => answerItems(queries, (query) => findOne(query, deps), options);
}

async function findOne(query: OpenAttemptQuery, { reads, wallet, opener, resolver, clock }: Deps) {
  const { playerRef } = query;
  const tenant = parseTenant(query.tenant);
  const roundId = parseId(query.roundId);
  const accountId = await wallet.resolvePlayer({ tenant, playerRef });
  const { round, candidates } = await reads.submit({ roundId, accountId });
  if (round === null || !isSameTenant(round.tenant, tenant)) return refused('not_found');
  const now = clock();
  const attemptIds = acceptsScores(round, now) ? await keepOpen(candidates, { opener, resolver, now }) : [];
  return { $case: 'found' as const, value: { attemptIds } };
}
