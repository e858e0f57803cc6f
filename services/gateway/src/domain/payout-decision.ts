/**
 * Two operators may decide one payout at the same moment. The first decision stays. An operator who
 * repeats their own decision, with the same reason, gets the payout again; any other decision
 * afterwards is a conflict that names what was decided, so that the operator notices that their own
 * reason was not stored.
 */
import { type Refused, refused } from '@laurel/errors';

/** A payout as operators see it. */
export type ShownPayout = {
  readonly status: 'paid' | 'held' | 'denied';
  /** Why it was held. */
  readonly reason: string | null;
  /** Null if nothing was decided, or if the decision dates from release 0.2.0. */
  readonly decision: { readonly operator: string; readonly reason: string | null } | null;
};

export type DecisionRequest = {
  readonly decision: 'released' | 'denied';
  readonly operator: string;
  readonly reason: string | null;
};

/** The decision on the payout. Null while the payout is held, and if it was never held. */
export function decisionOf({ status, reason }: Omit<ShownPayout, 'decision'>): 'released' | 'denied' | null {
  if (status === 'denied') return 'denied';
  return status === 'paid' && reason !== null ? 'released' : null;
}

/**
 * Compares the request with the decision that the payout already has. Null if they are the same,
 * else the conflict for the response.
 */
export function checkDecision(payout: ShownPayout, asked: DecisionRequest): Refused | null {
  const decision = decisionOf(payout);
  if (decision === null) {
    return refused(
      'conflict',
      payout.status === 'held' ? 'The payout is still held.' : 'The payout was paid without a hold.',
    );
  }
  if (payout.decision === null) return refused('conflict', `The payout was ${decision}.`);
  const { operator, reason } = payout.decision;
  const isTheirs = decision === asked.decision && operator === asked.operator;
  if (isTheirs && reason === asked.reason) return null;
  return refused('conflict', `The payout was ${decision} by ${operator}${isTheirs ? ', with another reason' : ''}.`);
}
