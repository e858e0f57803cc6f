import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { presentOperatorChallenge } from '../../presenters/challenge.ts';
import { answerStatistics, statisticsQuery, statisticsSchema } from '../challenge-statistics.ts';
import {
  challengeListQuery,
  challengeListSchema,
  operatorChallengeSchema,
  respondWithChallengePage,
} from '../challenges.ts';
import { pathId } from '../fields.ts';
import { defined } from '../run-route.ts';
import { defineProgramRoute } from './program-route.ts';

interface Challenges {
  readonly challenge: ChallengeClient;
}

const params = { challengeId: pathId };

export const listProgramChallenges = defineProgramRoute({
  method: 'get',
  path: '/challenges',
  name: 'listProgramChallenges',
  summary: "List a program's challenges in one environment",
  description: 'Every status, with the terms that the operator set. `fee` and `prize` are those on offer now.',
  query: challengeListQuery,
  success: { status: 200, description: 'Newest first.', schema: challengeListSchema },
  run: ({ caller: { program }, query, options }, { challenge }: Challenges) =>
    respondWithChallengePage(challenge, program.id, { query, options }),
});

export const getProgramChallenge = defineProgramRoute({
  method: 'get',
  path: '/challenges/{challengeId}',
  name: 'getProgramChallenge',
  summary: "Get one of a program's challenges",
  description: 'In either environment. A challenge of another program is 404.',
  params,
  success: { status: 200, description: 'The challenge.', schema: operatorChallengeSchema },
  run: async ({ caller: { program }, params: { challengeId }, options }, { challenge }: Challenges) => {
    const found = await challenge.getProgramChallenge({ programId: program.id, challengeId }, options);
    return isRefused(found) ? found : { body: presentOperatorChallenge(defined(found.challenge)) };
  },
});

export const getChallengeStatistics = defineProgramRoute({
  method: 'get',
  path: '/challenges/{challengeId}/statistics',
  name: 'getChallengeStatistics',
  summary: 'Get how the scores of a challenge are distributed, and how often its bar is cleared',
  description:
    'Works for any status. Scores are in the units of the metric. The pass rates count since the drift monitor started; a reinstatement starts it again.',
  params,
  query: statisticsQuery,
  success: { status: 200, description: 'The statistics.', schema: statisticsSchema },
  run: ({ caller: { program }, params: { challengeId }, query, options }, { challenge }: Challenges) =>
    answerStatistics(challenge, { programId: program.id, challengeId }, { query, options }),
});
