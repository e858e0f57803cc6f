/** ListTournaments: the active tournaments; with `all`, every one. */
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { listTournamentsOf } from '../repository/tournaments.ts';
import { presentTournament } from './present-round.ts';

export function listTournaments({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['listTournaments'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const listed = await listTournamentsOf(database, tenant, request.all ? undefined : ['active']);
    return { tournaments: listed.map(presentTournament) };
  };
}
