/**
 * CancelRound: an operator cancels a round of any program, in test or live, that has not ended.
 *
 * 1. One commit stores the cancellation and ends entries and scores. It takes the same locks as the
 *    end of a round, so a close, an entry or a score happens either wholly before or wholly after
 *    it. The decision is final.
 *
 * 2. close-rounds.ts resolves attempts that are pending, and makes every fee due.
 *
 * 3. settle-rounds.ts returns the fees and ends the round.
 *
 * After a failure in 2 or 3 the response shows the round in its current state, and the workers
 * continue. They also continue if a round has too many refunds for a call to wait for.
 */
import { isReviewReason, MAX_REVIEW_REASON_CHARACTERS } from '@laurel/attempts/domain';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock, Logger } from '@laurel/service';
import { cancelRound as decideCancellation } from '../domain/round-status.ts';
import { failpoint } from '../failpoints.ts';
import { loadRefundsOfRound } from '../repository/refunds.ts';
import { cancelRound as storeCancellation } from '../repository/rounds.ts';
import { lockRoundToEnd } from '../repository/settlement.ts';
import { DECISION_TIMEOUT_MS, type RoundCloser } from '../workers/close-rounds.ts';
import type { RoundSettler } from '../workers/settle-rounds.ts';
import { presentRound } from './present-round.ts';
import { readRound } from './read-round.ts';

type Deps = { database: Database; closer: RoundCloser; settler: RoundSettler; clock: Clock; logger: Logger };

/** More refunds than these are left to the worker: they take longer than a call should wait. */
const MAX_REFUNDS_AWAITED = 500;

export function cancelRound(deps: Deps): Handlers<TournamentServiceService>['cancelRound'] {
  return async (request) => {
    const roundId = parseId(request.roundId);
    const { reason, operator: by } = request;
    if (!isReviewReason(reason)) {
      return refused('invalid_request', `reason must have 1 to ${MAX_REVIEW_REASON_CHARACTERS} characters.`);
    }
    const refusal = await decide(roundId, { by, reason }, deps);
    if (refusal !== null) return refusal;
    await finish(roundId, deps).catch((err: unknown) =>
      deps.logger.warn({ err, roundId }, 'the workers finish the cancellation of a round'),
    );
    return { round: presentRound(await readRound(deps.database, roundId)) };
  };
}

/** Stores the cancellation. Null if this call cancelled the round; otherwise the refusal. */
async function decide(
  roundId: string,
  decision: { readonly by: string; readonly reason: string },
  { database, clock }: Deps,
): Promise<Refused | null> {
  const refusal = await database.transaction(
    async (tx) => {
      const held = await lockRoundToEnd(tx, roundId);
      if (held === null) return refused('not_found');
      // The clock is read after the wait for the locks, so the round ends after every score that
      // was recorded meanwhile.
      const round = decideCancellation(held.round, { ...decision, at: clock() });
      if (isRefused(round)) return round;
      await storeCancellation(tx, round);
      return null;
    },
    { statementTimeoutMs: DECISION_TIMEOUT_MS, beforeCommit: () => failpoint('tournament.annul.before-commit') },
  );
  if (refusal === null) await failpoint('tournament.annul.after-commit');
  return refusal;
}

async function finish(roundId: string, { database, closer, settler }: Deps): Promise<void> {
  await closer.close(roundId);
  const due = await loadRefundsOfRound(database, roundId, null, MAX_REFUNDS_AWAITED + 1);
  if (due.length <= MAX_REFUNDS_AWAITED) await settler.settle(roundId);
}
