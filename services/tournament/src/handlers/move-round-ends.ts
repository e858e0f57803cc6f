/**
 * Moves the times of an open sandbox round: its entries, or the round itself, end sooner. The times
 * of a live round never change, unless an operator cancels the round.
 */

import { isSameTenant } from '@laurel/attempts/domain';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { Tenant as TenantMessage } from '@laurel/proto/common';
import type { Clock } from '@laurel/service';
import type { Round } from '../domain/tournament.ts';
import { findRound, moveRoundEnds } from '../repository/rounds.ts';
import { lockRoundToEnd } from '../repository/settlement.ts';

/** Writes the round that `decide` returns. Refuses: not_found, and what `decide` refuses. */
export async function moveEndsOf(
  request: { readonly tenant: TenantMessage | undefined; readonly roundId: string },
  decide: (round: Round, now: Date) => Round | Refused,
  { database, clock }: { database: Database; clock: Clock },
): Promise<Round | Refused> {
  const tenant = parseTenant(request.tenant);
  if (tenant.environment !== 'test') throw new Error('only a sandbox round can be ended by hand');
  const roundId = parseId(request.roundId);
  const found = await findRound(database, roundId);
  if (found === null || !isSameTenant(found.round.tenant, tenant)) return refused('not_found');

  return await database.transaction(async (tx) => {
    // Entries and outcomes are decided under these locks, so no transaction that read the old times
    // can still write.
    const held = await lockRoundToEnd(tx, roundId);
    if (held === null) return refused('not_found');
    const round = decide(held.round, clock());
    if (!isRefused(round) && round !== held.round) await moveRoundEnds(tx, round);
    return round;
  });
}
