import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorAttempt } from '../../../api/api-types.ts';
import { contestOf } from '../../../attempts/contest-of.ts';
import { Outcome } from '../../../attempts/outcome.tsx';
import { Receipt } from '../../../attempts/receipt.tsx';
import { Timeline } from '../../../attempts/timeline.tsx';
import { useAttempt } from '../../../attempts/use-attempt.ts';
import { headlineOf } from '../../../attempts/verdict.ts';
import '../../../attempts/attempts.css';
import { Code } from '../../../kit/code-sample.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { capitalised } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { ProgramId } from '../../layout/item-ids.tsx';
import { AttemptActions } from './attempt-actions.tsx';
import { ActionsSection, DeliveriesSection } from './attempt-sections.tsx';
import { ContestId, Player } from './columns.tsx';
import { AccountSection, PayoutSection } from './money-sections.tsx';
import { OtherAttempts } from './other-attempts.tsx';

const route = getRouteApi('/shell/attempts/$attemptId');

export function AttemptPage(): ReactNode {
  const { attemptId } = route.useParams();
  const reading = useAttempt<OperatorAttempt>(`/attempts/${attemptId}`);
  return (
    <Page
      title="Attempt"
      above={<Link to="/attempts">Attempts</Link>}
      beside={
        <>
          <Id value={attemptId} what="attempt" />
          {reading.state === 'loaded' && <EnvironmentBadge value={reading.data.environment} />}
        </>
      }
    >
      <Loaded reading={reading}>{(attempt) => <Described key={attempt.id} attempt={attempt} />}</Loaded>
    </Page>
  );
}

function Described({ attempt }: { readonly attempt: OperatorAttempt }): ReactNode {
  const { text, tone } = headlineOf(attempt);
  const { outcome } = attempt;
  return (
    <>
      <p className="headline" data-tone={tone} role="status">
        {text}
      </p>
      <Facts items={factsOf(attempt)} />
      <div className="columns">
        <Section title="Timeline">
          <Timeline attempt={attempt} />
        </Section>
        <div className="page">
          <Section title="What you can do">
            <AttemptActions attempt={attempt} />
          </Section>
          <Section title="Outcome">
            <Outcome attempt={attempt} />
          </Section>
          <PayoutSection attempt={attempt} />
          <AccountSection accountId={attempt.account_id} />
          <Section title="Metadata">
            {Object.keys(attempt.metadata).length === 0 ? (
              <p className="muted">None was sent with the attempt, or the attempt is archived.</p>
            ) : (
              <Code text={JSON.stringify(attempt.metadata, null, 2)} label="The metadata" />
            )}
          </Section>
        </div>
      </div>
      <Section title="Evidence and receipt">
        {outcome === null ? (
          <p className="muted">The receipt is signed with the outcome and its evidence, and this attempt has none.</p>
        ) : (
          <Receipt attemptId={attempt.id} path={`/receipts/${outcome.receipt_id}`} />
        )}
      </Section>
      <Section title={`The player’s other attempts in this ${contestOf(attempt)}`}>
        <OtherAttempts of={attempt} />
      </Section>
      <DeliveriesSection deliveries={attempt.deliveries} />
      <ActionsSection attemptId={attempt.id} />
    </>
  );
}

function factsOf(attempt: OperatorAttempt) {
  return [
    { label: 'Status', value: <Status value={attempt.status} /> },
    { label: 'Player', value: <Player attempt={attempt} /> },
    { label: capitalised(contestOf(attempt)), value: <ContestId attempt={attempt} /> },
    { label: 'Program', value: <ProgramId value={attempt.program_id} /> },
    { label: 'Fee', value: <Money amount={attempt.fee} /> },
    { label: 'Created', value: <Time at={attempt.created_at} /> },
  ];
}
