/** ReleasePayout: an operator pays a held payout. */
import { type AwardReview, parseReview } from '@laurel/attempts/domain';
import { isRefused, type Refused, refused } from '@laurel/errors';
import type { RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ReleasePayoutRequest, ReleasePayoutResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import { openBook } from '../domain/ledger.ts';
import { type Payout, postingOf } from '../domain/payout-decision.ts';
import { decideRelease, type ReviewedPayout } from '../domain/payout-review.ts';
import { failpoint } from '../failpoints.ts';
import { lockOpenPlayers, playerLedgerKeyOf, withOpenPlayers, writeChanges } from '../repository/ledger.ts';
import { keepDecision, withDecision } from '../repository/payout-decisions.ts';
import { loadPayout, lockPayout, markPaid } from '../repository/payouts.ts';
import { countProgramPayouts, lockProgramsToCount } from '../repository/program-limits.ts';
import { checkOwned } from './contest-service-of-call.ts';
import { presentPayout } from './present.ts';

type Deps = { readonly database: Database; readonly clock: Clock };

export function releasePayout(deps: Deps) {
  return async (request: ReleasePayoutRequest, context: RpcContext): Promise<ReleasePayoutResponse | Refused> => {
    const { awardId } = request;
    if (!isUuid(awardId)) return refused('not_found');
    checkOwned(context, awardId);
    const review = parseReview('released', request);
    if (review !== null && isRefused(review)) return review;
    // A payout's account never changes, so the player's row can be locked before the payout's, in
    // the order of PayAwards.
    const known = await loadPayout(deps.database, awardId);
    if (known === null) return refused('not_found');
    const payout = await withOpenPlayers(deps.database, [playerLedgerKeyOf(known)], () => release(deps, known, review));
    return isRefused(payout) ? payout : { payout: presentPayout(payout) };
  };
}

async function release(
  { database, clock }: Deps,
  known: Payout,
  review: AwardReview | null,
): Promise<ReviewedPayout | Refused> {
  const outcome = await database.transaction(
    async (tx) => {
      const locked = await lockOpenPlayers(tx, [playerLedgerKeyOf(known)]);
      await lockProgramsToCount(tx, [known]);
      const held = await lockPayout(tx, known.awardId);
      const decision = decideRelease(held);
      if (isRefused(decision)) return decision;
      if (held === null) throw new Error('a payout that does not exist was released');
      if (decision === 'done') return withDecision(tx, held);

      const now = clock();
      const book = openBook(locked);
      book.post(postingOf(held));
      // An operator may pay beyond the program's limit; the payment counts towards later awards.
      await countProgramPayouts(tx, [{ ...known, paidCents: known.amountCents }]);
      const paid = await keepDecision(tx, await markPaid(tx, known.awardId, now), review);
      await writeChanges(tx, book.changes(), now);
      return paid;
    },
    { beforeCommit: () => failpoint('wallet.release.before-commit') },
  );
  await failpoint('wallet.release.after-commit');
  return outcome;
}
