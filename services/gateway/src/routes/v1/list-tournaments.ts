import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { defineRoute } from '../../http/v1-route.ts';
import { presentTournament } from '../../presenters/tournament.ts';
import { listTournamentsQuery, tournamentListSchema } from './schemas.ts';

export const listTournaments = defineRoute({
  method: 'get',
  path: '/tournaments',
  name: 'listTournaments',
  summary: 'Tournaments with their current rounds',
  description: 'The list does not depend on a player.',
  query: listTournamentsQuery,
  success: { status: 200, description: 'Oldest first.', schema: tournamentListSchema },
  refusals: { invalid_request: '`status` is not `all`.' },
  run: async ({ principal, query, requestId }, { tournament }: { tournament: TournamentClient }) => {
    const listed = await tournament.listTournaments(
      { tenant: principal.tenant, all: query.status === 'all' },
      { requestId, retryLostReply: true },
    );
    return isRefused(listed) ? listed : JSON.stringify({ data: listed.tournaments.map(presentTournament) });
  },
});
