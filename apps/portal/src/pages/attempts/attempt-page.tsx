import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { DescribedAttempt } from '../../api/api-types.ts';
import { contestOf } from '../../attempts/contest-of.ts';
import { Outcome } from '../../attempts/outcome.tsx';
import { Receipt } from '../../attempts/receipt.tsx';
import { Timeline } from '../../attempts/timeline.tsx';
import { useAttempt } from '../../attempts/use-attempt.ts';
import { headlineOf } from '../../attempts/verdict.ts';
import '../../attempts/attempts.css';
import { Code } from '../../kit/code-sample.tsx';
import { Facts } from '../../kit/facts.tsx';
import { capitalised } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { PlayerLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';
import { AttemptDeliveries } from './attempt-deliveries.tsx';
import { ContestLink } from './contest-link.tsx';

const route = getRouteApi('/p/$programId/$environment/attempts/$attemptId');

export function AttemptPage(): ReactNode {
  const { pathOf } = useProgram();
  const { attemptId } = route.useParams();
  const path = pathOf(`/attempts/${attemptId}`);
  const reading = useAttempt<DescribedAttempt>(path);
  return (
    <Page
      title="Attempt"
      above={<ProgramLink path="/attempts">Attempts</ProgramLink>}
      beside={<Id value={attemptId} what="attempt" />}
      actions={
        <ProgramLink path="/requests" search={{ attempt_id: attemptId }} className="button">
          Show requests
        </ProgramLink>
      }
    >
      <Loaded reading={reading}>{(attempt) => <Described attempt={attempt} path={path} />}</Loaded>
    </Page>
  );
}

function Described({ attempt, path }: { readonly attempt: DescribedAttempt; readonly path: string }): ReactNode {
  const { text, tone } = headlineOf(attempt);
  return (
    <>
      <p className="headline" data-tone={tone} role="status">
        {text}
      </p>
      <Facts items={factsOf(attempt)} />
      <div className="columns">
        <Section title="Timeline">
          <Timeline attempt={attempt} linkDelivery={linkDelivery} />
        </Section>
        <div className="page">
          <Section title="Outcome">
            <Outcome attempt={attempt} />
          </Section>
          <Section title="Metadata">
            {Object.keys(attempt.metadata).length === 0 ? (
              <p className="muted">None was sent with the attempt.</p>
            ) : (
              <Code text={JSON.stringify(attempt.metadata, null, 2)} label="The metadata" />
            )}
          </Section>
        </div>
      </div>
      <Section title="Webhooks">
        <AttemptDeliveries deliveries={attempt.deliveries} attemptPath={path} />
      </Section>
      <Section title="Receipt">
        {attempt.outcome === null ? (
          <p className="muted">The receipt is signed with the outcome, and this attempt has none.</p>
        ) : (
          <Receipt attemptId={attempt.id} path={`${path}/receipt`} />
        )}
      </Section>
    </>
  );
}

function factsOf(attempt: DescribedAttempt) {
  const { player_ref: player, award } = attempt;
  return [
    { label: 'Status', value: <Status value={attempt.status} /> },
    { label: 'Player', value: <PlayerLink value={player} /> },
    { label: capitalised(contestOf(attempt)), value: <ContestLink attempt={attempt} /> },
    { label: 'Fee', value: <Money amount={attempt.fee} /> },
    { label: 'Created', value: <Time at={attempt.created_at} /> },
    ...(award === null ? [] : [{ label: 'Award', value: <Id value={award.id} what="award" /> }]),
  ];
}

function linkDelivery(id: string): ReactNode {
  return <ProgramLink path={`/deliveries/${id}`}>Open the delivery</ProgramLink>;
}
