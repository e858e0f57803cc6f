/** FindOpenAttempts: steps/find-open-attempts.ts describes what happens to each item. */
import { isRefused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { Logger } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import { answerItems } from '../steps/answer-items.ts';
import { type FindDeps, findOpen } from '../steps/find-open-attempts.ts';

export function findOpenAttempts(
  deps: FindDeps & { readonly contestService: ContestServiceName; readonly logger: Logger },
): Handlers<AttemptServiceService>['findOpenAttempts'] {
  const { contestService, logger } = deps;
  return ({ queries }) =>
    answerItems(
      queries,
      async ({ playerRef, ...query }) => {
        const player = { tenant: parseTenant(query.tenant), playerRef, contestId: parseId(query.contestId) };
        const found = await findOpen(player, deps);
        return isRefused(found) ? found : { $case: 'found' as const, value: found };
      },
      { contestService, logger, failure: 'open attempts were not found out' },
    );
}
