/**
 * The charts of a challenge, and the sentences in their place where there is too little to draw.
 */
import type { ReactNode } from 'react';
import type {
  DriftState,
  OperatorChallenge,
  PassRateReading,
  PassRateStatistics,
  ScoreHistogram,
} from '../api/api-types.ts';
import { TooLittle } from '../kit/charts/figure.tsx';
import { Histogram } from '../kit/charts/histogram.tsx';
import { IntervalChart } from '../kit/charts/interval.tsx';
import { LineChart, type Point } from '../kit/charts/line.tsx';
import { formatCount, formatShare } from '../kit/format.ts';
import { driftWords, formatOdds, histogramNote, passRateWords } from './challenge-words.ts';

/** With fewer scores a histogram has no shape. */
const MIN_SCORES = 10;
const MIN_READINGS = 2;
/** The monitor keeps its first reading at this attempt: docs/contract/rules.md, "Drift". */
const FIRST_READING = 50;

interface PassRateChartProps {
  readonly rate: PassRateStatistics;
  readonly challenge: OperatorChallenge;
}

interface ScoreChartProps {
  readonly scores: ScoreHistogram;
  readonly challenge: OperatorChallenge;
}

export function ScoreChart({ scores, challenge }: ScoreChartProps): ReactNode {
  const { threshold } = scores;
  return (
    <ScoreHistogramChart
      title="Scores"
      scores={scores}
      bar={threshold === null ? undefined : { value: threshold, label: 'Bar' }}
      challenge={challenge}
      note={histogramNote(scores)}
    />
  );
}

interface ScoreHistogramChartProps {
  readonly title: string;
  readonly scores: Pick<ScoreHistogram, 'count' | 'bins'>;
  readonly bar: { readonly value: number; readonly label: string } | undefined;
  readonly challenge: OperatorChallenge;
  readonly note: string;
}

export function ScoreHistogramChart(props: ScoreHistogramChartProps): ReactNode {
  const { title, scores, bar, challenge, note } = props;
  const { count, bins } = scores;
  if (count < MIN_SCORES) {
    return (
      <TooLittle title={title}>
        {count === 0 ? 'There are no scores yet. ' : `There ${count === 1 ? 'is 1 score' : `are ${count} scores`}. `}
        The picture is drawn from {MIN_SCORES} scores on.
      </TooLittle>
    );
  }
  const side = challenge.threshold_direction === 'higher_is_better' ? 'above' : 'below';
  return (
    <Histogram
      title={title}
      unit={challenge.metric_unit}
      bins={bins}
      marker={bar && { ...bar, area: { side, label: 'Clears the bar' } }}
      note={note}
    />
  );
}

export function PassRateChart({ rate, challenge }: PassRateChartProps): ReactNode {
  const { target, observed, low, high, over_time } = rate;
  const about = {
    title: 'Pass rate',
    format: (value: number) => formatShare(value),
    note: passRateWords(rate, challenge),
  };
  const points = over_time.flatMap(pointOf);
  if (points.length >= MIN_READINGS) {
    const series = [{ name: 'Observed, with its 95 % interval', tone: 'info', points }];
    return <LineChart {...about} series={series} references={[{ name: 'Target', value: target }]} />;
  }
  if (observed === null || low === null || high === null) return <TooLittle title="Pass rate">{about.note}</TooLittle>;
  return (
    <IntervalChart
      {...about}
      name="Observed, with its 95 % interval"
      value={{ value: observed, low, high }}
      reference={{ name: 'Target', value: target }}
      unit="of settled paid attempts"
      note={`${about.note} Its course over time is drawn from the second reading on; the first is taken at ${FIRST_READING} attempts.`}
    />
  );
}

function pointOf({ at, attempts, observed, low, high }: PassRateReading): readonly Point[] {
  if (observed === null || low === null || high === null) return [];
  return [{ at, value: observed, low, high, detail: `of ${formatCount(attempts)} attempts` }];
}

export function DriftChart({ drift }: { readonly drift: DriftState }): ReactNode {
  const { limit, readings } = drift;
  if (readings.length < MIN_READINGS) {
    return (
      <TooLittle title="Evidence against the bar">
        {driftWords(drift)} Its course is drawn from the second reading on.
      </TooLittle>
    );
  }
  const most = Math.max(limit, ...readings.flatMap((one) => [one.evidence_above, one.evidence_below]));
  return (
    <LineChart
      title="Evidence against the bar"
      format={formatOdds}
      range={[-limit, most]}
      valueTicks={[-limit, 0, limit]}
      series={[
        {
          name: 'Too easy',
          tone: 'info',
          points: readings.map(({ at, evidence_above }) => ({ at, value: evidence_above })),
        },
        {
          name: 'Too hard',
          tone: 'warn',
          points: readings.map(({ at, evidence_below }) => ({ at, value: evidence_below })),
        },
      ]}
      references={[{ name: 'Limit', value: limit }]}
      note={driftWords(drift)}
    />
  );
}
