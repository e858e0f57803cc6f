import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { presentTournament } from '../../presenters/tournament.ts';
import { defineV1Route } from './route.ts';
import { listTournamentsQuery, tournamentListSchema } from './tournament-schemas.ts';

export const listTournaments = defineV1Route({
  method: 'get',
  path: '/tournaments',
  name: 'listTournaments',
  summary: 'List the tournaments with their current rounds',
  description: 'The list does not depend on a player.',
  query: listTournamentsQuery,
  success: { status: 200, description: 'Oldest first.', schema: tournamentListSchema },
  refusals: { invalid_request: '`status` is not `all`.' },
  run: async ({ caller, query, options }, { tournament }: { tournament: TournamentClient }) => {
    const listed = await tournament.listTournaments(
      { tenant: caller.tenant, all: query.status === 'all' },
      { ...options, retryLostReply: true },
    );
    return isRefused(listed) ? listed : JSON.stringify({ data: listed.tournaments.map(presentTournament) });
  },
});
