/**
 * Operators' decisions on held payouts: who decided, when and why. The transaction that moves the
 * money or closes the payout writes the decision, which never changes.
 */
import type { AwardReview } from '@laurel/attempts/domain';
import type { Queryable, Statement, Transaction } from '@laurel/postgres';
import type { Payout } from '../domain/payout-decision.ts';
import type { PayoutDecision, ReviewedPayout } from '../domain/payout-review.ts';

const insertDecisionStatement: Statement = {
  name: 'insert_payout_decision',
  text: `
    insert into payout_decisions (award_id, decision, operator, reason, decided_at) values ($1, $2, $3, $4, $5)`,
};

/**
 * Keeps the decision on a payout that was paid or denied in this transaction. `review` is null if
 * the caller is release 0.2.0, which names no operator: then no decision is kept.
 */
export async function keepDecision(
  tx: Transaction,
  payout: Payout,
  review: AwardReview | null,
): Promise<ReviewedPayout> {
  if (review === null) return payout;
  const { decision, operator, reason } = review;
  const decidedAt = payout.paidAt ?? payout.deniedAt;
  if (decidedAt === undefined) throw new Error(`the payout ${payout.awardId} is not decided`);
  await tx.query(insertDecisionStatement, [payout.awardId, decision, operator, reason, decidedAt]);
  return { ...payout, decision: { operator, reason, decidedAt } };
}

const loadDecisionsStatement: Statement = {
  name: 'load_payout_decisions',
  text: `
    select stored.award_id, stored.operator, stored.reason, stored.decided_at
    from unnest($1::uuid[]) as wanted (award_id)
    cross join lateral (
      select * from payout_decisions where payout_decisions.award_id = wanted.award_id limit 1
    ) as stored`,
};

type DecisionRow = { award_id: string; operator: string; reason: string | null; decided_at: Date };

/**
 * The payouts, in order, each with its decision. A payout that was held when it was read has no
 * decision, so that its status and its decision agree.
 */
export async function withDecisions(on: Queryable, payouts: readonly Payout[]): Promise<readonly ReviewedPayout[]> {
  const decided = payouts.filter(({ status, reason }) => status !== 'held' && reason !== null);
  if (decided.length === 0) return payouts;
  const rows = await on.query<DecisionRow>(loadDecisionsStatement, [decided.map(({ awardId }) => awardId)]);
  const decisions = new Map(rows.map((row): [string, PayoutDecision] => [row.award_id, decisionOf(row)]));
  return payouts.map((payout) => {
    const decision = payout.status === 'held' ? undefined : decisions.get(payout.awardId);
    return decision === undefined ? payout : { ...payout, decision };
  });
}

export async function withDecision(on: Queryable, payout: Payout): Promise<ReviewedPayout> {
  const [reviewed] = await withDecisions(on, [payout]);
  return reviewed ?? payout;
}

function decisionOf({ operator, reason, decided_at }: DecisionRow): PayoutDecision {
  return { operator, reason, decidedAt: decided_at };
}
