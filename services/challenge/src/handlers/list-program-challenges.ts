/**
 * ListProgramChallenges: the challenges of a tenant, newest first, for the program's developer and
 * for operators.
 */

import { refused } from '@laurel/errors';
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, findName } from '@laurel/proto/enum-names';
import { cutPage, decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { loadPageOfChallenges } from '../repository/challenges.ts';
import { presentChallenge } from './present.ts';

type Deps = { readonly database: Database; readonly ceilings: TierCeilings };

export function listProgramChallenges({
  database,
  ceilings,
}: Deps): Handlers<ChallengeServiceService>['listProgramChallenges'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const status = findName(CHALLENGE_STATUSES, request.status) ?? null;
    const { limit } = request;
    if (limit < 1 || limit > MAX_PAGE_ROWS) throw new Error(`a page of ${limit} challenges is out of bounds`);
    const after = request.cursor === '' ? TOP : decodePosition(request.cursor);
    if (after === null) return refused('invalid_request', 'The cursor is not valid.');

    // One challenge more than requested shows whether another page follows.
    const found = await loadPageOfChallenges(database, tenant, { after, status, limit: limit + 1 });
    const { page, last } = cutPage(found, limit);
    return {
      challenges: page.map((challenge) => presentChallenge(challenge, ceilings)),
      nextCursor: last === null ? '' : encodePosition({ at: last.createdAt, id: last.id }),
    };
  };
}
