/** The statistics of a challenge as its page shows them, in the order in which they come about. */
import type { ReactNode } from 'react';
import type { ChallengeStatistics, OperatorChallenge } from '../api/api-types.ts';
import { Section } from '../kit/page.tsx';
import { CalibrationSection, RampSection } from './bar-sections.tsx';
import { DriftChart, PassRateChart, ScoreChart } from './challenge-charts.tsx';

interface StatisticsProps {
  readonly challenge: OperatorChallenge;
  readonly statistics: ChallengeStatistics;
  /** Shows the scores that place the bar, in place of their picture. */
  readonly barSection?: ReactNode;
  /** These facts are shown below the evidence of the drift monitor. */
  readonly driftFacts?: ReactNode;
}

export function StatisticsSections(props: StatisticsProps): ReactNode {
  const { challenge, statistics, barSection, driftFacts } = props;
  const { scores, pass_rate, calibration, ramp, drift } = statistics;
  const isDrawn = barSection !== undefined && scores.source === 'bar_samples';
  return (
    <>
      {calibration !== null && <CalibrationSection calibration={calibration} challenge={challenge} />}
      {ramp !== null && <RampSection ramp={ramp} />}
      {barSection}
      <Section title="Scores and pass rate">
        <div className="columns">
          {!isDrawn && <ScoreChart scores={scores} challenge={challenge} />}
          <PassRateChart rate={pass_rate} challenge={challenge} />
        </div>
      </Section>
      {drift !== null && (
        <Section title="Does the bar hold?">
          <DriftChart drift={drift} />
          {driftFacts}
        </Section>
      )}
    </>
  );
}
