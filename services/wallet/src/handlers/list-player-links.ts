/**
 * ListPlayerLinks: the refs that name an account, the programs severed from it, and every program
 * that has linked it.
 */
import { type Refused, refused } from '@laurel/errors';
import { presentTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ListPlayerLinksRequest, ListPlayerLinksResponse } from '@laurel/proto/wallet';
import { isUuid } from '@laurel/values/ids';
import { loadAccount } from '../repository/accounts.ts';
import { listLinks } from '../repository/player-links.ts';
import { listProgramIds, listSeverances } from '../repository/severances.ts';

const MAX_LINKS = 1000;

export function listPlayerLinks({ database }: { database: Database }) {
  return async ({ accountId }: ListPlayerLinksRequest): Promise<ListPlayerLinksResponse | Refused> => {
    if (!isUuid(accountId) || (await loadAccount(database, accountId)) === null) return refused('not_found');
    const [links, severances, programIds] = await Promise.all([
      listLinks(database, accountId, MAX_LINKS),
      listSeverances(database, accountId),
      listProgramIds(database, accountId),
    ]);
    return {
      links: links.map(({ programId, environment, playerRef, createdAt }) => ({
        player: { tenant: presentTenant({ programId, environment }), playerRef },
        createdAt,
      })),
      severances: [...severances],
      programIds: [...programIds],
    };
  };
}
