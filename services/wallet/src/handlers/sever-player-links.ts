/**
 * SeverPlayerLinks: an operator removes a program's links to an account, in test and live. The
 * program cannot link the account until the severance is lifted. Open attempts stay with the
 * account that paid.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { SeverPlayerLinksRequest, SeverPlayerLinksResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import { lockPair, severPair } from '../repository/severances.ts';

export function severPlayerLinks({ database, clock }: { database: Database; clock: Clock }) {
  return async (pair: SeverPlayerLinksRequest): Promise<SeverPlayerLinksResponse | Refused> => {
    if (!isUuid(pair.accountId) || !isUuid(pair.programId)) return refused('not_found');
    return await database.transaction(async (tx) => {
      if (!(await lockPair(tx, pair))) return refused('not_found');
      return { severedLinks: await severPair(tx, pair, clock()) };
    });
  };
}
