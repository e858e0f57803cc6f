import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { TOURNAMENT_STATUSES } from '@laurel/proto/enum-names';
import { TournamentStatus } from '@laurel/proto/tournament';
import { z } from '../../http/zod.ts';
import { presentLeaderboardRow, presentOperatorTournament, presentRound } from '../../presenters/tournament.ts';
import { component } from '../component.ts';
import { nextCursor, PAGE_LIMIT, page, pathId } from '../fields.ts';
import { present } from '../run-route.ts';
import { operatorTournamentSchema } from '../tournaments.ts';
import { leaderboardRowSchema, roundSchema, scoredPlayers, tournamentStatus } from '../v1/tournament-schemas.ts';
import { defineProgramRoute, inEnvironment } from './program-route.ts';

interface Tournaments {
  readonly tournament: TournamentClient;
}

const tournamentQuery = z.object({
  ...inEnvironment,
  status: tournamentStatus.optional().openapi({ description: 'Only tournaments with this status.' }),
  ...page,
});

/** A purse may have thousands of ranks, so a page may be shorter than its limit. */
const MAY_BE_SHORT = 'Newest first; a page has fewer rows than `limit` if their purses have many ranks.';

/** No row is the caller's own: a developer does not play. */
const NO_PLAYER = '';

export const listProgramTournaments = defineProgramRoute({
  method: 'get',
  path: '/tournaments',
  name: 'listProgramTournaments',
  summary: "List a program's tournaments in one environment",
  description: 'Every status, with the terms that the operator set, each with its current round.',
  query: tournamentQuery,
  success: {
    status: 200,
    description: MAY_BE_SHORT,
    schema: component(
      'ProgramTournamentList',
      z.object({ data: z.array(operatorTournamentSchema), next_cursor: nextCursor }),
    ),
  },
  run: async ({ caller: { program }, query, options }, { tournament }: Tournaments) => {
    const listed = await tournament.listProgramTournaments(
      {
        tenant: { programId: program.id, environment: query.environment },
        status: query.status === undefined ? TournamentStatus.UNSPECIFIED : TOURNAMENT_STATUSES[query.status],
        cursor: query.cursor ?? '',
        limit: query.limit ?? PAGE_LIMIT,
      },
      options,
    );
    if (isRefused(listed)) return listed;
    const data = listed.tournaments.map(presentOperatorTournament);
    return { body: { data, next_cursor: listed.nextCursor || null } };
  },
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
    return isRefused(found) ? found : { body: presentOperatorTournament(present(found.tournament)) };
  },
});

export const listTournamentRounds = defineProgramRoute({
  method: 'get',
  path: '/tournaments/{tournamentId}/rounds',
  name: 'listTournamentRounds',
  summary: 'List the rounds of a tournament',
  description: 'The rounds of every status. A tournament of another program is 404.',
  params: { tournamentId: pathId },
  query: z.object(page),
  success: {
    status: 200,
    description: MAY_BE_SHORT,
    schema: component('RoundList', z.object({ data: z.array(roundSchema), next_cursor: nextCursor })),
  },
  run: async ({ caller: { program }, params: { tournamentId }, query, options }, { tournament }: Tournaments) => {
    const part = { cursor: query.cursor ?? '', limit: query.limit ?? PAGE_LIMIT };
    const listed = await tournament.listTournamentRounds(
      { programId: program.id, tournamentId, ...part, anyProgram: false },
      options,
    );
    if (isRefused(listed)) return listed;
    return { body: { data: listed.rounds.map(presentRound), next_cursor: listed.nextCursor || null } };
  },
});

export const listRoundStandings = defineProgramRoute({
  method: 'get',
  path: '/rounds/{roundId}/standings',
  name: 'listRoundStandings',
  summary: 'List the standings of a round that is over',
  description:
    'Until the round is `settled` or `cancelled` the answer has only counts, because developers are insiders. A round of another program is 404.',
  params: { roundId: pathId },
  query: z.object(page),
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
    const part = { cursor: query.cursor ?? '', limit: query.limit ?? PAGE_LIMIT };
    const read = await tournament.listRoundStandings({ programId: program.id, roundId, ...part }, options);
    if (isRefused(read)) return read;
    return {
      body: {
        round: presentRound(present(read.round)),
        scored_players: read.scoredPlayers,
        withheld: read.isWithheld,
        data: read.rows.map((row) => presentLeaderboardRow(row, NO_PLAYER)),
        next_cursor: read.nextCursor || null,
      },
    };
  },
});
