import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused, type Refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { THRESHOLD_DIRECTIONS, TOURNAMENT_STATUSES } from '@laurel/proto/enum-names';
import type { CreateTournamentRequest, Tournament } from '@laurel/proto/tournament';
import {
  MAX_COUNT_OF_TERMS,
  MAX_DESCRIPTION_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_PAID_RANKS,
  MAX_ROUND_SECONDS,
} from '@laurel/values/limits';
import type { Result } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import {
  presentInspectedStanding,
  presentOperatorRound,
  presentOperatorTournament,
  presentRound,
} from '../../presenters/tournament.ts';
import { findProgram } from '../../repository/programs.ts';
import { component, orNull } from '../component.ts';
import {
  environment,
  environmentName,
  id,
  instant,
  nextCursor,
  pathId,
  positiveAmount,
  reason,
  text,
} from '../fields.ts';
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
import { thresholdDirection } from '../v1/challenge-schemas.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { leaderboardRowSchema, roundSchema, scoredPlayers, tournamentStatus } from '../v1/tournament-schemas.ts';
import { defineOperatorRoute } from './route.ts';

/**
 * How long a cancellation may take. It makes the refund of every fee of the round due in one
 * commit, which takes seconds for a hundred thousand entries.
 */
const CANCEL_DEADLINE_MS = 60_000;

const paidRank = component('PaidRank', z.object({ rank: z.int().min(1).max(MAX_PAID_RANKS), amount: positiveAmount }));

/**
 * The fields that an operator sets (docs/contract/rules.md, "Tournaments"). The
 * tournament service checks the purse's order and the length of a round.
 */
const newTournament = component(
  'TournamentRequest',
  z
    .object({
      environment,
      name: text(MAX_NAME_CHARACTERS),
      description: text(MAX_DESCRIPTION_CHARACTERS).nullish(),
      metric_name: text(MAX_NAME_CHARACTERS),
      metric_unit: text(MAX_NAME_CHARACTERS),
      threshold_direction: thresholdDirection,
      tiebreak_metric_name: text(MAX_NAME_CHARACTERS).nullish(),
      tiebreak_direction: thresholdDirection.nullish(),
      entry_fee: positiveAmount,
      attempt_cap: z.int().min(1).max(MAX_COUNT_OF_TERMS),
      purse_table: z.array(paidRank).min(1).max(MAX_PAID_RANKS),
      min_entrants: z.int().min(1).max(MAX_COUNT_OF_TERMS),
      min_scored_attempts: z.int().min(0).max(MAX_COUNT_OF_TERMS).default(0),
      round_length_seconds: z.int().min(1).max(MAX_ROUND_SECONDS).nullish(),
    })
    .refine((body) => (body.tiebreak_metric_name == null) === (body.tiebreak_direction == null), {
      message: 'tiebreak_metric_name and tiebreak_direction come together',
    }),
);

const tournamentChange = component('TournamentChange', z.strictObject({ status: tournamentStatus }));

const newRound = component('RoundRequest', z.object({ opens_at: instant.nullish(), closes_at: instant }));

const operatorRoundSchema = component(
  'OperatorRound',
  roundSchema.extend({
    program_id: uuid,
    environment: environmentName,
    cancellation: orNull(
      component(
        'RoundCancellation',
        z.object({
          cancelled_at: timestamp.openapi({ description: 'No entry and no score has been accepted since then.' }),
          operator: z.string(),
          reason: z.string(),
        }),
      ),
    ).openapi({ description: 'Null unless an operator cancelled the round.' }),
  }),
);

const operatorStanding = component(
  'OperatorStanding',
  leaderboardRowSchema.omit({ is_player: true }).extend({
    payout_status: component(
      'OperatorRankPayoutStatus',
      z.enum(['none', 'paid', 'held', 'denied', 'refunded']),
    ).openapi({
      description: 'The contract has no `denied`: everyone else reads `held`.',
    }),
    account_id: uuid,
    award_id: orNull(uuid).openapi({
      description: 'The payout of the row; null if nothing is won, and until the round is `settled`.',
    }),
    best_attempt_id: uuid.openapi({ description: 'The attempt that scored `best_score`.' }),
  }),
);

const standingsSchema = component(
  'OperatorRoundStandings',
  z.object({
    round: operatorRoundSchema,
    scored_players: scoredPlayers,
    data: z.array(operatorStanding),
    next_cursor: nextCursor,
  }),
);

const params = z.object({ tournamentId: pathId });
const standingsPage = roundListQuery.extend({
  account_id: id.optional().openapi({ description: 'Only the standing of this account: one row, or none.' }),
});

const roundParams = z.object({ roundId: pathId });

interface Tournaments {
  readonly tournament: TournamentClient;
}

export const createTournament = defineOperatorRoute({
  method: 'post',
  path: '/programs/{programId}/tournaments',
  name: 'createTournament',
  summary: 'Open a tournament, and its first round if it has a round length',
  description: 'Without a round length an operator opens each round. A repeated call opens another tournament.',
  params: z.object({ programId: pathId }),
  body: newTournament,
  success: { status: 201, description: 'The tournament.', schema: operatorTournamentSchema },
  refusals: { invalid_request: 'A field does not match its schema, or fields contradict each other.' },
  action: 'create_tournament',
  recording: { creates: 'tournament' },
  run: async (
    { params: { programId }, body, options },
    { tournament, database }: Tournaments & { database: Database },
  ) => {
    const program = await findProgram(database, programId);
    if (isRefused(program)) return program;
    return answer(await tournament.createTournament(toRequest(program.id, body), options));
  },
});

export const listTournaments = defineOperatorRoute({
  method: 'get',
  path: '/programs/{programId}/tournaments',
  name: 'listTournaments',
  summary: "List a program's tournaments in one environment",
  description: 'Every status, each with its current round, as the developer of the program sees them too.',
  params: z.object({ programId: pathId }),
  query: tournamentListQuery,
  success: { status: 200, description: MAY_BE_SHORT_DESCRIPTION, schema: tournamentListSchema },
  run: async (
    { params: { programId }, query, options },
    { tournament, database }: Tournaments & { database: Database },
  ) => {
    const program = await findProgram(database, programId);
    return isRefused(program) ? program : answerTournaments(tournament, program.id, { query, options });
  },
});

export const getTournament = defineOperatorRoute({
  method: 'get',
  path: '/tournaments/{tournamentId}',
  name: 'getTournament',
  summary: 'Read a tournament with its current round',
  params,
  success: { status: 200, description: 'The tournament.', schema: operatorTournamentSchema },
  run: async ({ params: { tournamentId }, options }, { tournament }: Tournaments) =>
    answer(await tournament.getTournament({ tournamentId }, options)),
});

export const listRounds = defineOperatorRoute({
  method: 'get',
  path: '/tournaments/{tournamentId}/rounds',
  name: 'listRounds',
  summary: 'List the rounds of a tournament',
  description: 'The rounds of every status.',
  params,
  query: roundListQuery,
  success: { status: 200, description: MAY_BE_SHORT_DESCRIPTION, schema: roundListSchema },
  run: ({ params: { tournamentId }, query, options }, { tournament }: Tournaments) =>
    answerRounds(tournament, { programId: null, tournamentId }, { query, options }),
});

export const getRound = defineOperatorRoute({
  method: 'get',
  path: '/rounds/{roundId}',
  name: 'getRound',
  summary: 'Read a round',
  params: roundParams,
  success: { status: 200, description: 'The round.', schema: operatorRoundSchema },
  run: async ({ params: { roundId }, options }, { tournament }: Tournaments) => {
    const found = await tournament.getRound({ roundId }, options);
    return isRefused(found) ? found : { body: presentOperatorRound(defined(found.round)) };
  },
});

export const listStandings = defineOperatorRoute({
  method: 'get',
  path: '/rounds/{roundId}/standings',
  name: 'listStandings',
  summary: 'List the standings of a round with their accounts and awards',
  description:
    'In every status. Scores move the rows of an `open` round, so between two pages a row may come twice, or not at all. Payouts are decided once the round is `settled`.',
  params: roundParams,
  query: standingsPage,
  success: { status: 200, description: 'By rank.', schema: standingsSchema },
  run: async ({ params: { roundId }, query, options }, { tournament }: Tournaments) => {
    const request = { roundId, accountId: query.account_id, ...askedPart(query) };
    const read = await tournament.inspectStandings(request, options);
    if (isRefused(read)) return read;
    return {
      body: {
        round: presentOperatorRound(defined(read.round)),
        scored_players: read.scoredPlayers,
        data: read.rows.map(presentInspectedStanding),
        next_cursor: read.nextCursor || null,
      },
    };
  },
});

export const changeTournament = defineOperatorRoute({
  method: 'patch',
  path: '/tournaments/{tournamentId}',
  name: 'changeTournament',
  summary: 'Activate, pause or close a tournament',
  description:
    'A `paused` or `closed` tournament opens no further round; a running round continues to its end. `active` opens the next round at once if the tournament has a round length and no open round. `closed` is final.',
  params,
  body: tournamentChange,
  success: { status: 200, description: 'The tournament.', schema: operatorTournamentSchema },
  refusals: { conflict: 'The tournament is closed, which is final.' },
  action: 'change_tournament',
  run: async ({ params: { tournamentId }, body, options }, { tournament }: Tournaments) => {
    const change = { tournamentId, status: TOURNAMENT_STATUSES[body.status] };
    const changed = answer(await tournament.updateTournamentStatus(change, options));
    return isRefused(changed) ? changed : { ...changed, logged: { change: body } };
  },
});

export const openRound = defineOperatorRoute({
  method: 'post',
  path: '/tournaments/{tournamentId}/rounds',
  name: 'openRound',
  summary: 'Open a round by hand',
  description:
    'Without `opens_at` the round opens now. A tournament has one open round at a time, so a repeated call is a `conflict`.',
  params,
  body: newRound,
  success: { status: 201, description: 'The round.', schema: roundSchema },
  refusals: {
    invalid_request: 'The body does not match its schema, or the round would be too short, too long or already over.',
    conflict: 'Another round is open, or the tournament is not active.',
  },
  // The log shows this as a change of the tournament, whose current round the new one becomes.
  action: 'open_round',
  run: async ({ params: { tournamentId }, body, options }, { tournament }: Tournaments) => {
    const opened = await tournament.openRound(
      { tournamentId, opensAt: body.opens_at ?? undefined, closesAt: body.closes_at },
      options,
    );
    return isRefused(opened) ? opened : { body: presentRound(defined(opened.round)) };
  },
});

export const cancelRound = defineOperatorRoute({
  method: 'post',
  path: '/rounds/{roundId}/cancel',
  name: 'cancelRound',
  summary: 'Cancel a round that has not ended, and return every fee',
  description:
    'Cancels a round of any program, in test or live. No entry and no score is accepted from then on, every paid attempt is refunded, scored or not, and nothing is paid. The partner gets `attempt.refunded` with the reason `round_cancelled` for each, then `round.cancelled`. The decision is final. The refunds of a large round, and the status `cancelled` where an entry is still under way, follow the response within moments. After a failure repeat the call: a `conflict` says that the round is cancelled already. The next round opens as after any other; to have none, pause the tournament first.',
  params: z.object({ roundId: pathId }),
  body: component('CancelRoundRequest', z.object({ reason })),
  success: { status: 200, description: 'The round, cancelled.', schema: operatorRoundSchema },
  refusals: {
    conflict:
      'The round has ended, or is cancelled. The message says which; for a cancelled one, by whom and for which reason.',
  },
  action: 'cancel_round',
  run: async ({ caller, params: { roundId }, body, options }, { tournament }: Tournaments) => {
    const cancelled = await tournament.cancelRound(
      { roundId, reason: body.reason, operator: caller },
      { ...options, deadlineMs: CANCEL_DEADLINE_MS },
    );
    return isRefused(cancelled) ? cancelled : { body: presentOperatorRound(defined(cancelled.round)) };
  },
});

function answer(response: { readonly tournament: Tournament | undefined } | Refused): Result | Refused {
  return isRefused(response) ? response : { body: presentOperatorTournament(defined(response.tournament)) };
}

function toRequest(programId: string, body: z.output<typeof newTournament>): CreateTournamentRequest {
  const { tiebreak_metric_name: tiebreakName, tiebreak_direction: tiebreakDirection } = body;
  return {
    tenant: { programId, environment: body.environment },
    terms: {
      name: body.name,
      description: body.description ?? undefined,
      metricName: body.metric_name,
      metricUnit: body.metric_unit,
      thresholdDirection: THRESHOLD_DIRECTIONS[body.threshold_direction],
      tiebreak:
        tiebreakName == null || tiebreakDirection == null
          ? undefined
          : { metricName: tiebreakName, direction: THRESHOLD_DIRECTIONS[tiebreakDirection] },
      entryFeeCents: body.entry_fee,
      attemptCap: body.attempt_cap,
      purseTable: body.purse_table.map(({ rank, amount }) => ({ rank, amountCents: amount })),
      minEntrants: body.min_entrants,
      minScoredAttempts: body.min_scored_attempts,
      roundLengthSeconds: body.round_length_seconds ?? undefined,
    },
  };
}
