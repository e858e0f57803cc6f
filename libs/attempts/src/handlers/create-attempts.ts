/** CreateAttempts: steps/create-attempt.ts describes what happens to each item. */
import { isRefused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { Logger } from '@laurel/service';
import { answerItems } from '../steps/answer-items.ts';
import { type CreateDeps, createAttempt } from '../steps/create-attempt.ts';
import { parseCreation } from '../steps/parse-items.ts';
import { presentAttempt } from './present.ts';

export function createAttempts(
  deps: CreateDeps & { readonly logger: Logger },
): Handlers<AttemptServiceService>['createAttempts'] {
  const { contestService, logger } = deps;
  return ({ creations }) =>
    answerItems(
      creations,
      async (item) => {
        const creation = parseCreation(item);
        const attempt = await createAttempt(creation, deps);
        if (isRefused(attempt)) return attempt;
        // Shows the attempt in its state at the creation, even if the state has changed since.
        const { contestId } = creation;
        const shown = { attempt: { ...attempt, status: 'open' as const }, contestId, metadata: attempt.metadata };
        return { $case: 'attempt' as const, value: presentAttempt(shown, null) };
      },
      { contestService, logger, failure: 'creation failed' },
    );
}
