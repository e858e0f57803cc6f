import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ChallengeStatistics, OperatorChallenge } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { TermsSection } from '../../contests/challenge-terms.tsx';
import { barWords, statusWords } from '../../contests/challenge-words.ts';
import { Prize } from '../../contests/prize.tsx';
import { StatisticsSections } from '../../contests/statistics-sections.tsx';
import { StatusHistory } from '../../contests/status-history.tsx';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatShare } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { attemptSamples } from '../../kit/samples.ts';
import { Status } from '../../kit/status.tsx';
import { AttemptsLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';

const route = getRouteApi('/p/$programId/$environment/challenges/$challengeId');
const REFRESH_MS = 30_000;

export function ChallengePage(): ReactNode {
  const { programId, environment, pathOf } = useProgram();
  const { challengeId } = route.useParams();
  const reading = useRead<OperatorChallenge>(pathOf(`/challenges/${challengeId}`), {}, { refreshMs: REFRESH_MS });
  const above = (
    <Link to="/p/$programId/$environment/challenges" params={{ programId, environment }}>
      Challenges
    </Link>
  );
  if (reading.state !== 'loaded') {
    return (
      <Page title="Challenge" above={above}>
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  const challenge = reading.data;
  if (challenge.environment !== environment) {
    const params = { programId, challengeId, environment: challenge.environment };
    return <Navigate replace to="/p/$programId/$environment/challenges/$challengeId" params={params} />;
  }
  return (
    <Page
      title={challenge.name}
      above={above}
      beside={<Status value={challenge.status} />}
      actions={
        <AttemptsLink of={{ challenge_id: challengeId }} className="button">
          Show attempts
        </AttemptsLink>
      }
    >
      <Challenge challenge={challenge} />
    </Page>
  );
}

function Challenge({ challenge }: { readonly challenge: OperatorChallenge }): ReactNode {
  const { environment, pathOf } = useProgram();
  const { id } = challenge;
  const statistics = useRead<ChallengeStatistics>(
    pathOf(`/challenges/${id}/statistics`),
    {},
    { refreshMs: REFRESH_MS },
  );
  const cause = statistics.state === 'loaded' ? statistics.data.status_changes.at(-1)?.cause : undefined;
  return (
    <>
      <p>{statusWords(challenge, cause)}</p>
      <Facts
        items={[
          { label: 'Fee', value: <Money amount={challenge.fee} /> },
          { label: 'Prize on offer', value: <Prize challenge={challenge} /> },
          { label: 'Bar', value: barWords(challenge) },
          { label: 'Target pass rate', value: formatShare(challenge.target_pass_rate) },
          { label: 'Id', value: <Id value={id} what="challenge" /> },
        ]}
      />
      <Loaded reading={statistics}>{(found) => <Statistics challenge={challenge} statistics={found} />}</Loaded>
      <TermsSection challenge={challenge} parent={<Parent challengeId={challenge.parent_challenge_id ?? ''} />} />
      {(challenge.status === 'live' || challenge.status === 'calibrating') && (
        <Section title="Try it">
          <CodeSample title="Create an attempt" samples={attemptSamples(environment, { challenge_id: id })} />
        </Section>
      )}
    </>
  );
}

interface StatisticsProps {
  readonly challenge: OperatorChallenge;
  readonly statistics: ChallengeStatistics;
}

function Statistics({ challenge, statistics }: StatisticsProps): ReactNode {
  return (
    <>
      <StatisticsSections challenge={challenge} statistics={statistics} />
      <Section title="Status history">
        <StatusHistory changes={statistics.status_changes} />
      </Section>
    </>
  );
}

function Parent({ challengeId }: { readonly challengeId: string }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Id value={challengeId} what="rung before">
      <Link to="/p/$programId/$environment/challenges/$challengeId" params={{ programId, environment, challengeId }}>
        {challengeId}
      </Link>
    </Id>
  );
}
