import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { presentChallenge } from '../../presenters/challenge.ts';
import { challengeListSchema, listChallengesQuery } from './challenge-schemas.ts';
import { defineV1Route } from './route.ts';

export const listChallenges = defineV1Route({
  method: 'get',
  path: '/challenges',
  name: 'listChallenges',
  summary: 'List the challenges that a player may attempt now',
  description:
    '`POST /attempts` accepts every challenge in the default list for that player, if the funds suffice. A `player_ref` that is not linked is not an error.',
  query: listChallengesQuery,
  success: { status: 200, description: 'Oldest first.', schema: challengeListSchema },
  refusals: { invalid_request: '`player_ref` is missing or longer than 255 characters; `status` is not `all`.' },
  run: async ({ caller, query, options }, { challenge }: { challenge: ChallengeClient }) => {
    const listed = await challenge.listChallenges(
      { tenant: caller.tenant, playerRef: query.player_ref, all: query.status === 'all' },
      { ...options, retryLostReply: true },
    );
    return isRefused(listed) ? listed : JSON.stringify({ data: listed.challenges.map(presentChallenge) });
  },
});
