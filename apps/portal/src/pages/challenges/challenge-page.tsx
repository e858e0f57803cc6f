import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ChallengeStatistics, OperatorChallenge } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
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
import { CalibrationSection, RampSection } from './bar-sections.tsx';
import { Prize } from './challenges-page.tsx';
import { DriftChart, PassRateChart, ScoreChart } from './pictures.tsx';
import { StatusHistory } from './status-history.tsx';
import { TermsSection } from './terms-section.tsx';
import { barWords, statusWords } from './words.ts';

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
      <TermsSection challenge={challenge} />
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
  const { scores, pass_rate, calibration, ramp, drift, status_changes } = statistics;
  return (
    <>
      {calibration !== null && <CalibrationSection calibration={calibration} challenge={challenge} />}
      {ramp !== null && <RampSection ramp={ramp} />}
      <Section title="Scores and pass rate">
        <div className="columns">
          <ScoreChart scores={scores} challenge={challenge} />
          <PassRateChart rate={pass_rate} challenge={challenge} />
        </div>
      </Section>
      {drift !== null && (
        <Section title="Does the bar hold?">
          <DriftChart drift={drift} />
        </Section>
      )}
      <Section title="Status history">
        <StatusHistory changes={status_changes} />
      </Section>
    </>
  );
}
