/**
 * A tournament, and pages of tournaments and of rounds, as operators and the program's developer
 * see them.
 */
import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused, type Refused } from '@laurel/errors';
import { TOURNAMENT_STATUSES } from '@laurel/proto/enum-names';
import { TournamentStatus } from '@laurel/proto/tournament';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { Result } from '../http/route.ts';
import { z } from '../http/zod.ts';
import { presentOperatorTournament, presentRound } from '../presenters/tournament.ts';
import { component, orNull } from './component.ts';
import { environmentName, inEnvironment, nextCursor, page } from './fields.ts';
import { thresholdDirection } from './v1/challenge-schemas.ts';
import { uuid } from './v1/fields.ts';
import { purse, roundSchema, tournamentSchema, tournamentStatus } from './v1/tournament-schemas.ts';

export const tournamentListQuery = z.object({
  ...inEnvironment,
  status: tournamentStatus.optional().openapi({ description: 'Only tournaments with this status.' }),
  ...page,
});

/** A page of rounds, or of the standings of one. */
export const roundListQuery = z.object(page);

/** A purse may have thousands of ranks, so a page may be shorter than its limit. */
export const MAY_BE_SHORT_DESCRIPTION =
  'Newest first; a page has fewer rows than `limit` if their purses have many ranks.';

/** The partners' list item, and everything that the operator set. */
export const operatorTournamentSchema = component(
  'OperatorTournament',
  tournamentSchema.extend({
    program_id: uuid,
    environment: environmentName,
    tiebreak_metric_name: z.string().nullable(),
    tiebreak_direction: orNull(thresholdDirection),
    ...purse,
    min_entrants: z.int(),
    min_scored_attempts: z.int(),
    round_length_seconds: z.int().nullable(),
  }),
  { description: 'The tournament as partners see it, and everything that the operator set.' },
);

export const tournamentListSchema = component(
  'ProgramTournamentList',
  z.object({ data: z.array(operatorTournamentSchema), next_cursor: nextCursor }),
);

export const roundListSchema = component(
  'RoundList',
  z.object({ data: z.array(roundSchema), next_cursor: nextCursor }),
);

interface Asked<Query extends z.ZodType> {
  readonly query: z.output<Query>;
  readonly options: { readonly requestId: string };
}

/** A page of the program's tournaments, newest first. */
export async function answerTournaments(
  tournament: TournamentClient,
  programId: string,
  { query, options }: Asked<typeof tournamentListQuery>,
): Promise<Result | Refused> {
  const listed = await tournament.listProgramTournaments(
    {
      tenant: { programId, environment: query.environment },
      status: query.status === undefined ? TournamentStatus.UNSPECIFIED : TOURNAMENT_STATUSES[query.status],
      ...askedPart(query),
    },
    options,
  );
  if (isRefused(listed)) return listed;
  const data = listed.tournaments.map(presentOperatorTournament);
  return { body: { data, next_cursor: listed.nextCursor || null } };
}

/**
 * A page of a tournament's rounds, newest first. `programId` is the program to which the tournament
 * must belong. For an operator it is null: the tournament may belong to any program.
 */
export async function answerRounds(
  tournament: TournamentClient,
  { programId, tournamentId }: { readonly programId: string | null; readonly tournamentId: string },
  { query, options }: Asked<typeof roundListQuery>,
): Promise<Result | Refused> {
  const request = {
    programId: programId ?? '',
    anyProgram: programId === null,
    tournamentId,
    ...askedPart(query),
  };
  const listed = await tournament.listTournamentRounds(request, options);
  if (isRefused(listed)) return listed;
  return { body: { data: listed.rounds.map(presentRound), next_cursor: listed.nextCursor || null } };
}

/** The part of the list that a page asks for, as the tournament service takes it. */
export function askedPart({ cursor = '', limit = MAX_PAGE_ROWS }: z.output<typeof roundListQuery>) {
  return { cursor, limit };
}
