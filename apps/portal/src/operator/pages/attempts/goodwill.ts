/** The deposits that compensate for an attempt. */
import type { OperatorAttempt } from '../../../api/api-types.ts';
import { money } from '../../../kit/format.ts';

type Attempt = Pick<OperatorAttempt, 'id' | 'timeline'>;

function goodwillOf({ timeline }: Pick<Attempt, 'timeline'>) {
  return timeline.filter(({ kind }) => kind === 'goodwill_deposited');
}

/** "$1.00, $2.50", or "nothing". */
export function goodwillWords(attempt: Pick<Attempt, 'timeline'>): string {
  return (
    goodwillOf(attempt)
      .map(({ amount = '0.00' }) => money(amount))
      .join(', ') || 'nothing'
  );
}

/**
 * The reference of the next deposit. Two operators who have seen the same deposits have the same
 * reference, so only one of their deposits is made.
 */
export function nextReference(attempt: Attempt): string {
  return `goodwill ${goodwillOf(attempt).length + 1} for attempt ${attempt.id}`;
}
