/** ListSigningKeys: every key that receipts and seals were ever signed with, for the list with which auditors verify them. */

import { describeSigningKeys } from '@laurel/attempts';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';

export function listSigningKeys({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['listSigningKeys'] {
  return async () => ({ keys: await describeSigningKeys(database) });
}
