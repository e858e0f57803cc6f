import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import {
  NO_PLAYER,
  presentLeaderboardRow,
  presentOperatorTournament,
  presentRound,
} from '../../presenters/tournament.ts';
import { component } from '../component.ts';
import { nextCursor, pathId } from '../fields.ts';
import { defined } from '../run-route.ts';
import {
  answerRounds,
  answerTournaments,
  askedPart,
  MAY_BE_SHORT_DESCRIPTION,
  operatorTournamentSchema,
  roundListQuery,
  roundListSchema,
  tournamentListQuery,
  tournamentListSchema,
} from '../tournaments.ts';
import { leaderboardRowSchema, roundSchema, scoredPlayers } from '../v1/tournament-schemas.ts';
import { defineProgramRoute } from './program-route.ts';

interface Tournaments {
  readonly tournament: TournamentClient;
}

export const listProgramTournaments = defineProgramRoute({
  method: 'get',
  path: '/tournaments',
  name: 'listProgramTournaments',
  summary: "List a program's tournaments in one environment",
  description: 'Every status, with the terms that the operator set, each with its current round.',
  query: tournamentListQuery,
  success: { status: 200, description: MAY_BE_SHORT_DESCRIPTION, schema: tournamentListSchema },
  run: ({ caller: { program }, query, options }, { tournament }: Tournaments) =>
    answerTournaments(tournament, program.id, { query, options }),
});

export const getProgramTournament = defineProgramRoute({
  method: 'get',
  path: '/tournaments/{tournamentId}',
  name: 'getProgramTournament',
  summary: "Get one of a program's tournaments with its current round",
  description: 'In either environment. A tournament of another program is 404.',
  params: { tournamentId: pathId },
  success: { status: 200, description: 'The tournament.', schema: operatorTournamentSchema },
  run: async ({ caller: { program }, params: { tournamentId }, options }, { tournament }: Tournaments) => {
    const found = await tournament.getProgramTournament({ programId: program.id, tournamentId }, options);
    return isRefused(found) ? found : { body: presentOperatorTournament(defined(found.tournament)) };
  },
});

export const listTournamentRounds = defineProgramRoute({
  method: 'get',
  path: '/tournaments/{tournamentId}/rounds',
  name: 'listTournamentRounds',
  summary: 'List the rounds of a tournament',
  description: 'The rounds of every status. A tournament of another program is 404.',
  params: { tournamentId: pathId },
  query: roundListQuery,
  success: { status: 200, description: MAY_BE_SHORT_DESCRIPTION, schema: roundListSchema },
  run: ({ caller: { program }, params: { tournamentId }, query, options }, { tournament }: Tournaments) =>
    answerRounds(tournament, { programId: program.id, tournamentId }, { query, options }),
});

export const listRoundStandings = defineProgramRoute({
  method: 'get',
  path: '/rounds/{roundId}/standings',
  name: 'listRoundStandings',
  summary: 'List the standings of a round that is over',
  description:
    'Until the round is `settled` or `cancelled` the answer has only counts, because developers are insiders. A round of another program is 404.',
  params: { roundId: pathId },
  query: roundListQuery,
  success: {
    status: 200,
    description: 'By rank, as in the final table of the leaderboard.',
    schema: component(
      'RoundStandings',
      z.object({
        round: roundSchema,
        scored_players: scoredPlayers,
        withheld: z.boolean().openapi({ description: 'Whether the rows are withheld: the round is not over.' }),
        data: z.array(leaderboardRowSchema),
        next_cursor: nextCursor,
      }),
    ),
  },
  run: async ({ caller: { program }, params: { roundId }, query, options }, { tournament }: Tournaments) => {
    const request = { programId: program.id, roundId, ...askedPart(query) };
    const read = await tournament.listRoundStandings(request, options);
    if (isRefused(read)) return read;
    return {
      body: {
        round: presentRound(defined(read.round)),
        scored_players: read.scoredPlayers,
        withheld: read.isWithheld,
        data: read.rows.map((row) => presentLeaderboardRow(row, NO_PLAYER)),
        next_cursor: read.nextCursor || null,
      },
    };
  },
});
