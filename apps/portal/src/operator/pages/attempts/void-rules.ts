/** Whether an attempt can be voided, and what that does. */
import type { OperatorAttempt } from '../../../api/api-types.ts';
import { money } from '../../../kit/format.ts';

type Attempt = Pick<OperatorAttempt, 'status' | 'fee' | 'environment' | 'timeline'>;

/** Returns null if the attempt can be voided, otherwise why not. */
export function whyNotVoidable(attempt: Attempt): string | null {
  switch (attempt.status) {
    case 'open':
      return null;
    case 'voided':
      return owesFee(attempt) ? null : 'It is voided.';
    case 'expired':
      return `It has expired, so no outcome can come${isFree(attempt) ? '' : ', and its fee goes back by itself'}.`;
    default:
      return 'It is settled: its outcome was recorded and signed, and stands. A deposit can make it good.';
  }
}

export function voidConsequence(attempt: Attempt): string {
  const refund = isFree(attempt)
    ? 'No fee was charged, so no money moves.'
    : `The player has the fee of ${money(attempt.fee)} in ${moneyKindOf(attempt)} back at once.`;
  return `${refund} The attempt takes no outcome any more, and the partner gets attempt.refunded with the reason voided. This cannot be undone.`;
}

export function moneyKindOf({ environment }: Pick<OperatorAttempt, 'environment'>): string {
  return environment === 'live' ? 'real money' : 'play money of the sandbox';
}

function isFree({ fee }: Attempt): boolean {
  return Number(fee) === 0;
}

/**
 * Whether the fee is still to be returned. If a void was interrupted before its refund, the next
 * void finishes it.
 */
function owesFee(attempt: Attempt): boolean {
  return !isFree(attempt) && !attempt.timeline.some(({ kind }) => kind === 'fee_refunded');
}
