/**
 * CloseEntries: a sandbox round takes no more entries, as if the last ten minutes before its end
 * had begun.
 */
import { isRefused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock } from '@laurel/service';
import { closeEntriesEarly } from '../domain/round-status.ts';
import { moveEndsOf } from './move-round-ends.ts';
import { presentRound } from './present-round.ts';
import { readRound } from './read-round.ts';

export function closeEntries(deps: {
  database: Database;
  clock: Clock;
}): Handlers<TournamentServiceService>['closeEntries'] {
  return async (request) => {
    const moved = await moveEndsOf(request, closeEntriesEarly, deps);
    return isRefused(moved) ? moved : { round: presentRound(await readRound(deps.database, moved.id)) };
  };
}
