import { isRefused, type Refused } from '@laurel/errors';
import type { CreateChallengeRequest } from '@laurel/proto/challenge';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { presentOperatorChallenge } from '../../presenters/challenge.ts';
import { CHALLENGE_STATUSES, PRIZE_STRUCTURES, THRESHOLD_DIRECTIONS } from '../../presenters/wire-names.ts';
import { findProgram } from '../../repository/programs.ts';
import { callOptions, mutation, notFound, parseBody, pathId, present, route } from '../api-route.ts';
import { environment, id, jurisdiction, positiveAmount, text, verificationLevel } from '../fields.ts';

/** Far above any calibration or ladder; it keeps the numbers inside 32 bits. */
const MAX_COUNT = 1_000_000;

/**
 * What an operator sets; the defaults are those of decisions.md, "Challenges".
 * Rules that tie fields together are the challenge service's: it refuses with `invalid_request` too.
 */
const createChallenge = z.object({
  environment,
  name: text(255),
  description: text(2_000).nullish(),
  fee: positiveAmount,
  // A prize above its tier's ceiling may be set; attempting it answers challenge_not_available.
  prize: positiveAmount,
  prize_structure: z.enum(['threshold', 'top_n']).default('threshold'),
  top_n: z.int().min(1).max(MAX_COUNT).nullish(),
  metric_name: text(255),
  metric_unit: text(255),
  threshold_direction: z.enum(['higher_is_better', 'lower_is_better']),
  score_min: z.number().nullish(),
  score_max: z.number().nullish(),
  target_pass_rate: z.number().gt(0).lt(1),
  integrity_tier: z.int().min(1).max(3),
  min_calibration_n: z.int().min(1).max(MAX_COUNT).default(200),
  min_calibration_players: z.int().min(1).max(MAX_COUNT).default(20),
  daily_attempt_cap: z.int().min(1).max(MAX_COUNT).default(10),
  required_verification_level: verificationLevel.default(0),
  jurisdictions: z.array(jurisdiction).max(300).default([]),
  parent_challenge_id: id.nullish(),
  status: z.enum(['calibrating', 'live']).default('calibrating'),
  threshold: z.number().nullish(),
});

const changeChallenge = z.strictObject({ status: z.enum(['live', 'suspended', 'closed']) });

export function challengeRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/programs/:programId/challenges',
    mutation(deps, 'create_challenge', async (request) => {
      const programId = pathId(request, 'programId');
      const body = parseBody(request, createChallenge);
      if (isRefused(body)) return body;
      const program = programId === null ? notFound() : await findProgram(deps.database, programId);
      if (isRefused(program)) return program;
      const created = await deps.challenge.createChallenge(toRequest(program.id, body), callOptions(request));
      if (isRefused(created)) return created;
      return { status: 201, body: presentOperatorChallenge(present(created.challenge)) };
    }),
  );

  router.get(
    '/challenges/:challengeId',
    route(async (request) => {
      const challengeId = pathId(request, 'challengeId');
      if (challengeId === null) return notFound();
      return answer(await deps.challenge.getChallenge({ challengeId }, callOptions(request)));
    }),
  );

  router.patch(
    '/challenges/:challengeId',
    mutation(deps, 'change_challenge', async (request) => {
      const challengeId = pathId(request, 'challengeId');
      const body = parseBody(request, changeChallenge);
      if (isRefused(body)) return body;
      if (challengeId === null) return notFound();
      const change = { challengeId, status: CHALLENGE_STATUSES[body.status] };
      const changed = answer(await deps.challenge.updateChallengeStatus(change, callOptions(request)));
      return isRefused(changed) ? changed : { ...changed, logged: { change: body } };
    }),
  );
}

function toRequest(programId: string, body: z.output<typeof createChallenge>): CreateChallengeRequest {
  return {
    tenant: { programId, environment: body.environment },
    terms: {
      name: body.name,
      description: body.description ?? undefined,
      feeCents: body.fee,
      prizeCents: body.prize,
      prizeStructure: PRIZE_STRUCTURES[body.prize_structure],
      topN: body.top_n ?? undefined,
      metricName: body.metric_name,
      metricUnit: body.metric_unit,
      thresholdDirection: THRESHOLD_DIRECTIONS[body.threshold_direction],
      scoreMin: body.score_min ?? undefined,
      scoreMax: body.score_max ?? undefined,
      targetPassRate: body.target_pass_rate,
      integrityTier: body.integrity_tier,
      minCalibrationN: body.min_calibration_n,
      minCalibrationPlayers: body.min_calibration_players,
      dailyAttemptCap: body.daily_attempt_cap,
      requiredVerificationLevel: body.required_verification_level,
      jurisdictions: body.jurisdictions,
      parentChallengeId: body.parent_challenge_id ?? '',
    },
    status: CHALLENGE_STATUSES[body.status],
    threshold: body.threshold ?? undefined,
  };
}

function answer(
  response: Awaited<ReturnType<Dependencies['challenge']['getChallenge']>>,
): Refused | { status: 200; body: object } {
  return isRefused(response) ? response : { status: 200, body: presentOperatorChallenge(present(response.challenge)) };
}
