/**
 * An operator's review of a held award: `held -> releasing -> paid`, or `held -> denying ->
 * denied`. The first commit begins the review, with the operator and the reason. Then the wallet
 * moves the money or closes the payout, and the second commit records that. After a crash between
 * the two commits the sweeper finishes the review, for the same operator and reason.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { AwardStatus } from '../domain/award.ts';
import type { AwardReview } from '../domain/award-review.ts';
import { insertAwardReview } from '../repository/award-reviews.ts';
import type { AwardPayer, AwardTable } from './pay-awards.ts';

export type ReviewDeps = {
  database: Database;
  payer: AwardPayer;
  awards: AwardTable;
};

export type Review = {
  readonly underWay: Extract<AwardStatus, 'releasing' | 'denying'>;
  readonly done: Extract<AwardStatus, 'paid' | 'denied'>;
  /** Null if the caller runs software version 0.2.0, which names no operator. */
  readonly by: AwardReview | null;
};

// Two more rounds may be needed: one to finish an award that is still being paid, and one if
// another operator's review interferes.
const MAX_ROUNDS = 3;

/**
 * Reviews the award. Returns the refusal, or null once the award has the status that the review
 * asks for.
 */
export async function reviewAward(
  awardId: string,
  review: Review,
  { database, payer, awards }: ReviewDeps,
): Promise<Refused | null> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = await awards.findAward(database, awardId);
    if (found === null) return refused('not_found');
    const award = await payer.completeAndRecord(found);
    if (award.status === review.done) return null;
    if (award.status !== 'held') return refused('conflict', `The award is ${award.status}.`);
    const isMoved = await database.transaction(async (tx) => {
      const moved = await awards.changeAwardStatus(tx, awardId, 'held', review.underWay);
      if (moved && review.by !== null) await insertAwardReview(tx, awardId, review.by);
      return moved;
    });
    if (!isMoved) continue;
    const completed = await payer.completeAndRecord({ ...found, award: { ...award, status: review.underWay } });
    return completed.status === review.done ? null : refused('conflict', `The award is ${completed.status}.`);
  }
  throw new Error(`award ${awardId} was not reviewed in ${MAX_ROUNDS} rounds`);
}
