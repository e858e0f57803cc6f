import { isRefused } from '@laurel/errors';
import type { CreateTournamentRequest } from '@laurel/proto/tournament';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { presentOperatorTournament, presentRound } from '../../presenters/tournament.ts';
import { THRESHOLD_DIRECTIONS, TOURNAMENT_STATUSES } from '../../presenters/wire-names.ts';
import { findProgram } from '../../repository/programs.ts';
import { callOptions, mutation, notFound, parseBody, pathId, present } from '../api-route.ts';
import { environment, instant, positiveAmount, text } from '../fields.ts';

/** Far above any field of players; it keeps the numbers inside 32 bits. */
const MAX_COUNT = 1_000_000;
/** So many rows fit into a body. */
const MAX_PAID_RANKS = 5_000;
const MAX_ROUND_SECONDS = 366 * 86_400;

const direction = z.enum(['higher_is_better', 'lower_is_better']);

/** What an operator sets (decisions.md, "Tournaments"). The purse's order and the length of a round are the tournament service's to judge. */
const createTournament = z
  .object({
    environment,
    name: text(255),
    description: text(2_000).nullish(),
    metric_name: text(255),
    metric_unit: text(255),
    threshold_direction: direction,
    tiebreak_metric_name: text(255).nullish(),
    tiebreak_direction: direction.nullish(),
    entry_fee: positiveAmount,
    attempt_cap: z.int().min(1).max(MAX_COUNT),
    purse_table: z
      .array(z.object({ rank: z.int().min(1).max(MAX_PAID_RANKS), amount: positiveAmount }))
      .min(1)
      .max(MAX_PAID_RANKS),
    min_entrants: z.int().min(1).max(MAX_COUNT),
    min_scored_attempts: z.int().min(0).max(MAX_COUNT).default(0),
    round_length_seconds: z.int().min(1).max(MAX_ROUND_SECONDS).nullish(),
  })
  .refine((body) => (body.tiebreak_metric_name == null) === (body.tiebreak_direction == null), {
    message: 'tiebreak_metric_name and tiebreak_direction come together',
  });

const changeTournament = z.strictObject({ status: z.enum(['active', 'paused', 'closed']) });

const openRound = z.object({ opens_at: instant.nullish(), closes_at: instant });

export function tournamentRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/programs/:programId/tournaments',
    mutation(deps, 'create_tournament', async (request) => {
      const programId = pathId(request, 'programId');
      const body = parseBody(request, createTournament);
      if (isRefused(body)) return body;
      const program = programId === null ? notFound() : await findProgram(deps.database, programId);
      if (isRefused(program)) return program;
      const created = await deps.tournament.createTournament(toRequest(program.id, body), callOptions(request));
      if (isRefused(created)) return created;
      return { status: 201, body: presentOperatorTournament(present(created.tournament)) };
    }),
  );

  router.patch(
    '/tournaments/:tournamentId',
    mutation(deps, 'change_tournament', async (request) => {
      const tournamentId = pathId(request, 'tournamentId');
      const body = parseBody(request, changeTournament);
      if (isRefused(body)) return body;
      if (tournamentId === null) return notFound();
      const change = { tournamentId, status: TOURNAMENT_STATUSES[body.status] };
      const changed = await deps.tournament.updateTournamentStatus(change, callOptions(request));
      if (isRefused(changed)) return changed;
      return { status: 200, body: presentOperatorTournament(present(changed.tournament)), logged: { change: body } };
    }),
  );

  router.post(
    '/tournaments/:tournamentId/rounds',
    mutation(deps, 'open_round', async (request) => {
      const tournamentId = pathId(request, 'tournamentId');
      const body = parseBody(request, openRound);
      if (isRefused(body)) return body;
      if (tournamentId === null) return notFound();
      const opened = await deps.tournament.openRound(
        { tournamentId, opensAt: body.opens_at ?? undefined, closesAt: body.closes_at },
        callOptions(request),
      );
      return isRefused(opened) ? opened : { status: 201, body: presentRound(present(opened.round)) };
    }),
  );
}

function toRequest(programId: string, body: z.output<typeof createTournament>): CreateTournamentRequest {
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
