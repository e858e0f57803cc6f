/** ListSigningKeys: every key that receipts were ever signed with, for the list with which auditors verify them. */

import { describeSigningKeys } from '@laurel/attempts';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';

export function listSigningKeys({
  database,
}: {
  database: Database;
}): Handlers<ChallengeServiceService>['listSigningKeys'] {
  return async () => ({ keys: await describeSigningKeys(database) });
}
