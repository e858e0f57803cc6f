/** Cells of the tables of payouts. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Payout } from '../../../api/api-types.ts';
import { words } from '../../../kit/format.ts';
import { Money } from '../../../kit/money.tsx';
import { Status } from '../../../kit/status.tsx';
import { Time } from '../../../kit/time.tsx';
import { explainReason } from './reasons.ts';

interface CellProps {
  readonly payout: Payout;
}

/** The amount is the link to the page of the payout. */
export function AmountAndStatus({ payout: { award_id: awardId, amount, status } }: CellProps): ReactNode {
  return (
    <>
      <Link to="/payouts/$awardId" params={{ awardId }}>
        <Money amount={amount} />
      </Link>{' '}
      <Status value={status} />
    </>
  );
}

export function PayoutReason({ payout: { reason, decision } }: CellProps): ReactNode {
  if (reason === null) return <span className="muted">paid without a hold</span>;
  return (
    <div className="payout-why">
      <p>{explainReason(reason)}</p>
      {decision !== null && (
        <p>
          {words(decision.decision)} by {decision.operator} <Time at={decision.at} />
          {decision.reason !== null && `: ${decision.reason}`}
        </p>
      )}
    </div>
  );
}
