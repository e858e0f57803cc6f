/** ResolvePlayers: the accounts that player_refs name. */
import { parseItems } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ResolvePlayersRequest, ResolvePlayersResponse } from '@laurel/proto/wallet';
import { resolvePlayers as loadAccountIds } from '../repository/player-links.ts';
import { parsePlayer } from './parse.ts';

export function resolvePlayers({ database }: { database: Database }) {
  return async (request: ResolvePlayersRequest): Promise<ResolvePlayersResponse> => {
    const players = parseItems(request.players).map(parsePlayer);
    const accountIds = await loadAccountIds(database, players);
    return { accountIds: accountIds.map((accountId) => accountId ?? '') };
  };
}
