/** GetProgramChallenge: one challenge of a program, for the program's developer. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findChallengeOfProgram } from '../repository/challenges.ts';
import { presentChallenge } from './present.ts';

type Deps = { readonly database: Database; readonly ceilings: TierCeilings };

export function getProgramChallenge({
  database,
  ceilings,
}: Deps): Handlers<ChallengeServiceService>['getProgramChallenge'] {
  return async (request) => {
    const programId = parseId(request.programId);
    const challenge = await findChallengeOfProgram(database, programId, parseId(request.challengeId));
    return challenge === null ? refused('not_found') : { challenge: presentChallenge(challenge, ceilings) };
  };
}
