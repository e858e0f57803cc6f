/**
 * Stores who reviewed an award and why. The transaction that begins the review writes the row,
 * which never changes.
 */
import type { Queryable } from '@laurel/postgres';
import type { AwardReview } from '../domain/award-review.ts';

const INSERT = { text: 'insert into award_reviews (award_id, decision, operator, reason) values ($1, $2, $3, $4)' };

export async function insertAwardReview(on: Queryable, awardId: string, review: AwardReview): Promise<void> {
  await on.query(INSERT, [awardId, review.decision, review.operator, review.reason]);
}

const SELECT = { text: 'select decision, operator, reason from award_reviews where award_id = $1' };

/** Finds the review of an award; null if software version 0.2.0 began the review. */
export async function findAwardReview(on: Queryable, awardId: string): Promise<AwardReview | null> {
  const [row] = await on.query<AwardReview>(SELECT, [awardId]);
  return row ?? null;
}
