/**
 * CreateTournament: an operator creates a tournament. With a round length, its first round opens in
 * the same commit.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { findName, THRESHOLD_DIRECTIONS } from '@laurel/proto/enum-names';
import type { TournamentServiceService, TournamentTerms as TournamentTermsMessage } from '@laurel/proto/tournament';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import type { Tournament } from '../domain/tournament.ts';
import { decideTerms, type ProposedTournament } from '../domain/tournament-terms.ts';
import { findTournament, insertTournament } from '../repository/tournaments.ts';
import { openNextRound } from '../workers/open-rounds.ts';
import { presentTournament } from './present-round.ts';

export function createTournament({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): Handlers<TournamentServiceService>['createTournament'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const proposed = request.terms === undefined ? null : parseTerms(request.terms);
    if (proposed === null) return refused('invalid_request', 'a direction is not valid.');
    const decision = decideTerms(proposed);
    if (decision.kind === 'invalid') return refused('invalid_request', `${decision.issues[0]}.`);

    const createdAt = clock();
    const { terms } = decision;
    const tournament: Tournament = { id: newId(createdAt), tenant, status: 'active', terms, createdAt };
    const created = await database.transaction(async (tx) => {
      await insertTournament(tx, tournament);
      await openNextRound(tx, tournament, createdAt);
      return await findTournament(tx, tournament.id);
    });
    if (created === null) throw new Error(`tournament ${tournament.id} was written but cannot be read`);
    return { tournament: presentTournament(created) };
  };
}

/** Null if a direction is unknown. */
function parseTerms(terms: TournamentTermsMessage): ProposedTournament | null {
  const { tiebreak } = terms;
  const direction = findName(THRESHOLD_DIRECTIONS, terms.thresholdDirection);
  const tiebreakDirection = tiebreak === undefined ? null : findName(THRESHOLD_DIRECTIONS, tiebreak.direction);
  if (direction === undefined || tiebreakDirection === undefined) return null;
  return {
    name: terms.name,
    description: terms.description ?? null,
    metricName: terms.metricName,
    metricUnit: terms.metricUnit,
    direction,
    tiebreakMetricName: tiebreak?.metricName ?? null,
    tiebreakDirection,
    entryFeeCents: terms.entryFeeCents,
    attemptCap: terms.attemptCap,
    purseTable: terms.purseTable,
    minEntrants: terms.minEntrants,
    minScoredAttempts: terms.minScoredAttempts,
    roundLengthSeconds: terms.roundLengthSeconds ?? null,
  };
}
