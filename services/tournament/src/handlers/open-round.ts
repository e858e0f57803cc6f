/** OpenRound: an operator opens a round manually. */
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { decideRound } from '../domain/round-opening.ts';
import { insertRound, loadRoundsSoFar } from '../repository/rounds.ts';
import { lockTournament } from '../repository/tournaments.ts';
import { presentRound } from './present-round.ts';
import { readRound } from './read-round.ts';

export function openRound({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): Handlers<TournamentServiceService>['openRound'] {
  return async (request) => {
    const tournamentId = parseId(request.tournamentId);
    const { opensAt = null, closesAt } = request;
    if (closesAt === undefined) return refused('invalid_request', 'closes_at is required.');

    const opened = await database.transaction(async (tx) => {
      const tournament = await lockTournament(tx, tournamentId);
      if (tournament === null) return refused('not_found');
      const { nextNumber: number, hasOpenRound } = await loadRoundsSoFar(tx, tournamentId);
      const now = clock();
      const decision = decideRound({ tournament, hasOpenRound, id: newId(now), number, opensAt, closesAt, now });
      if (isRefused(decision)) return decision;
      const { round } = decision;
      if (!(await insertRound(tx, round)))
        throw new Error(`round ${number} of tournament ${tournamentId} did not open`);
      return round;
    });
    if (isRefused(opened)) return opened;
    return { round: presentRound(await readRound(database, opened.id)) };
  };
}
