/** LiftSeverance: lets a program link an account again that an operator severed from it. */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { LiftSeveranceRequest, LiftSeveranceResponse } from '@laurel/proto/wallet';
import { isUuid } from '@laurel/values/ids';
import { permitPair } from '../repository/severances.ts';

export function liftSeverance({ database }: { database: Database }) {
  return async (pair: LiftSeveranceRequest): Promise<LiftSeveranceResponse | Refused> => {
    if (!isUuid(pair.accountId) || !isUuid(pair.programId)) return refused('not_found');
    return (await permitPair(database, pair)) ? {} : refused('not_found');
  };
}
