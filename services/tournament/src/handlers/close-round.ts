/**
 * CloseRound: a sandbox round ends now. Before the response it is settled or cancelled, with every
 * payout and refund. The call runs the same steps as the workers, so a repeated call or a worker
 * finishes what a failure interrupted.
 */
import { isRefused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock } from '@laurel/service';
import { closeEarly } from '../domain/round-status.ts';
import type { RoundCloser } from '../workers/close-rounds.ts';
import type { RoundSettler } from '../workers/settle-rounds.ts';
import { moveEndsOf } from './move-round-ends.ts';
import { presentRound } from './present-round.ts';
import { readRound } from './read-round.ts';

export function closeRound(deps: {
  database: Database;
  closer: RoundCloser;
  settler: RoundSettler;
  clock: Clock;
}): Handlers<TournamentServiceService>['closeRound'] {
  return async (request) => {
    const moved = await moveEndsOf(request, closeEarly, deps);
    if (isRefused(moved)) return moved;
    await deps.closer.close(moved.id);
    await deps.settler.settle(moved.id);
    const ended = await readRound(deps.database, moved.id);
    const { status } = ended.round;
    if (status !== 'settled' && status !== 'cancelled') throw new Error(`round ${moved.id} is still ${status}`);
    return { round: presentRound(ended) };
  };
}
