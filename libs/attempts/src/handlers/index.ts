/** The rpcs of AttemptService, and which service may call each. */
import type { AcceptedCallers, Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { Logger } from '@laurel/service';
import type { CreateDeps } from '../steps/create-attempt.ts';
import { describeSigningKeys } from '../steps/describe-signing-keys.ts';
import type { FindDeps } from '../steps/find-open-attempts.ts';
import type { ListDeps } from '../steps/list-attempts.ts';
import type { AwardTable } from '../steps/pay-awards.ts';
import { createAttempts } from './create-attempts.ts';
import { describeAttempt } from './describe-attempt.ts';
import { expireAttempt } from './expire-attempt.ts';
import { findOpenAttempts } from './find-open-attempts.ts';
import { getAttempt } from './get-attempt.ts';
import { inspectAttempt } from './inspect-attempt.ts';
import { listAttempts } from './list-attempts.ts';
import { type LookUpDeps, lookUpId } from './look-up-id.ts';
import type { ReadDeps } from './read-attempt.ts';
import { reportOutcomes } from './report-outcomes.ts';
import { denyAward, releaseAward } from './review-awards.ts';
import { voidAttempt } from './void-attempt.ts';

type Deps = CreateDeps &
  FindDeps &
  ListDeps &
  LookUpDeps &
  ReadDeps & { readonly database: Database; readonly awards: AwardTable; readonly logger: Logger };

export function attemptHandlers(deps: Deps): Handlers<AttemptServiceService> {
  return {
    createAttempts: createAttempts(deps),
    reportOutcomes: reportOutcomes(deps),
    findOpenAttempts: findOpenAttempts(deps),
    getAttempt: getAttempt(deps),
    inspectAttempt: inspectAttempt(deps),
    listAttempts: listAttempts(deps),
    describeAttempt: describeAttempt(deps),
    lookUpId: lookUpId(deps),
    voidAttempt: voidAttempt(deps),
    expireAttempt: expireAttempt(deps),
    releaseAward: releaseAward(deps),
    denyAward: denyAward(deps),
    listSigningKeys: async () => ({ keys: await describeSigningKeys(deps.database) }),
  };
}

const GATEWAY = ['gateway'] as const;

/**
 * The gateway may call every rpc except one; the integration service may call the rpcs that settle
 * a report.
 */
export const ATTEMPT_CALLERS: AcceptedCallers<AttemptServiceService> = {
  createAttempts: GATEWAY,
  reportOutcomes: [...GATEWAY, 'integration'],
  findOpenAttempts: ['integration'],
  getAttempt: GATEWAY,
  inspectAttempt: GATEWAY,
  listAttempts: GATEWAY,
  describeAttempt: GATEWAY,
  lookUpId: GATEWAY,
  voidAttempt: GATEWAY,
  expireAttempt: GATEWAY,
  releaseAward: GATEWAY,
  denyAward: GATEWAY,
  listSigningKeys: GATEWAY,
};
