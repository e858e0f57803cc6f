import type { ReactNode } from 'react';
import type { OperatorAttempt } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { contestOf } from '../../../attempts/contest-of.ts';
import { Outcome } from '../../../attempts/outcome.tsx';
import { Receipt } from '../../../attempts/receipt.tsx';
import { Timeline } from '../../../attempts/timeline.tsx';
import '../../../attempts/attempts.css';
import { Facts } from '../../../kit/facts.tsx';
import { capitalised } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { Time } from '../../../kit/time.tsx';
import { AttemptId } from '../../layout/item-ids.tsx';
import { ContestId, Player } from '../attempts/columns.tsx';
import { OtherAttempts } from '../attempts/other-attempts.tsx';

/** The attempt that won, as far as a decision needs it, and what else the player played there. */
export function WonByAttempt({ attemptId }: { readonly attemptId: string }): ReactNode {
  const reading = useRead<OperatorAttempt>(`/attempts/${attemptId}`);
  return <Loaded reading={reading}>{(attempt) => <Described attempt={attempt} />}</Loaded>;
}

function Described({ attempt }: { readonly attempt: OperatorAttempt }): ReactNode {
  const { outcome } = attempt;
  return (
    <>
      <Section title="Attempt">
        <Facts
          items={[
            { label: 'Attempt', value: <AttemptId value={attempt.id} /> },
            { label: 'Player', value: <Player attempt={attempt} /> },
            { label: capitalised(contestOf(attempt)), value: <ContestId attempt={attempt} /> },
            { label: 'Fee', value: <Money amount={attempt.fee} /> },
            { label: 'Created', value: <Time at={attempt.created_at} /> },
          ]}
        />
      </Section>
      <div className="columns">
        <Section title="Timeline">
          <Timeline attempt={attempt} />
        </Section>
        <div className="page">
          <Section title="Outcome">
            <Outcome attempt={attempt} />
          </Section>
          <Section title="Other attempts there">
            <OtherAttempts of={attempt} />
          </Section>
        </div>
      </div>
      <Section title="Receipt and evidence">
        {outcome === null ? (
          <p className="muted">The receipt is signed with the outcome, and this attempt has none.</p>
        ) : (
          <Receipt attemptId={attempt.id} path={`/receipts/${outcome.receipt_id}`} />
        )}
      </Section>
    </>
  );
}
