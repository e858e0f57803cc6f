/** GetRound: one round, for operators. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { findRound } from '../repository/rounds.ts';
import { presentRound } from './present-round.ts';

export function getRound({ database }: { database: Database }): Handlers<TournamentServiceService>['getRound'] {
  return async (request) => {
    const found = await findRound(database, parseId(request.roundId));
    return found === null ? refused('not_found') : { round: presentRound(found) };
  };
}
