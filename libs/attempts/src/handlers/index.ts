/** Each rpc of AttemptService. */
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { PayableAward } from '../domain/award.ts';
import { describeSigningKeys } from '../steps/describe-signing-keys.ts';
import type { AwardTable } from '../steps/pay-awards.ts';
import type { Wallet } from '../wallet.ts';
import { expireAttempt } from './expire-attempt.ts';
import { getAttempt } from './get-attempt.ts';
import { inspectAttempt } from './inspect-attempt.ts';
import type { ReadDeps } from './read-attempt.ts';
import { denyAward, releaseAward } from './review-awards.ts';
import { voidAttempt } from './void-attempt.ts';

export function attemptHandlers(
  deps: ReadDeps & { readonly database: Database; readonly wallet: Wallet; readonly awards: AwardTable<PayableAward> },
): Handlers<AttemptServiceService> {
  return {
    getAttempt: getAttempt(deps),
    inspectAttempt: inspectAttempt(deps),
    voidAttempt: voidAttempt(deps),
    expireAttempt: expireAttempt(deps),
    releaseAward: releaseAward(deps),
    denyAward: denyAward(deps),
    listSigningKeys: async () => ({ keys: await describeSigningKeys(deps.database) }),
  };
}
