import type { ReactNode } from 'react';
import type { DescribedAttempt } from '../api/api-types.ts';
import { Facts } from '../kit/facts.tsx';
import { formatScore } from '../kit/format.ts';
import { Money } from '../kit/money.tsx';
import { Status } from '../kit/status.tsx';
import { Time } from '../kit/time.tsx';

/** Shows what was reported, and what it won. */
export function Outcome({ attempt: { outcome, award } }: { readonly attempt: DescribedAttempt }): ReactNode {
  if (outcome === null) return <p className="muted">None has been reported.</p>;
  const { threshold_applied: bar } = outcome;
  return (
    <Facts
      items={[
        { label: 'Score', value: formatScore(outcome.score) },
        { label: 'Bar', value: bar === null ? 'none' : formatScore(bar) },
        ...(bar === null
          ? []
          : [
              {
                label: 'Bar cleared',
                value: (
                  <Status
                    value={outcome.met_threshold ? 'yes' : 'no'}
                    tone={outcome.met_threshold ? 'good' : 'neutral'}
                  />
                ),
              },
            ]),
        ...(award === null
          ? []
          : [
              { label: 'Award', value: <Money amount={award.amount} /> },
              { label: 'Payout', value: <Status value={award.payout_status} /> },
            ]),
        { label: 'Recorded', value: <Time at={outcome.recorded_at} /> },
      ]}
    />
  );
}
