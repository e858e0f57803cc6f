/** The scores that place the bar of a challenge, and how certain the bar is. */
import type { ReactNode } from 'react';
import type { CalibrationReport, OperatorChallenge, Quantile, SeededDistribution } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { ScoreHistogramChart } from '../../../contests/challenge-charts.tsx';
import { histogramNote } from '../../../contests/challenge-words.ts';
import { Facts } from '../../../kit/facts.tsx';
import { formatCount, formatScore } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Section } from '../../../kit/page.tsx';

export function BarSection({ challenge }: { readonly challenge: OperatorChallenge }): ReactNode {
  // Millions of samples take seconds to count, so the report is read once.
  const reading = useRead<CalibrationReport>(`/challenges/${challenge.id}/calibration`);
  return (
    <Section title="The scores that place the bar">
      <Loaded reading={reading}>{(report) => <Report challenge={challenge} report={report} />}</Loaded>
    </Section>
  );
}

interface ReportProps {
  readonly challenge: OperatorChallenge;
  readonly report: CalibrationReport;
}

function Report({ challenge, report }: ReportProps): ReactNode {
  const { samples, players, fair_share, required, bar, bar_interval, quantiles, seeded } = report;
  const unit = challenge.metric_unit;
  const isTopN = challenge.prize_structure === 'top_n';
  const isPlaced = isTopN || challenge.threshold !== null;
  const barLabel = isPlaced ? 'Bar' : 'Bar so far';
  return (
    <>
      <Facts
        items={[
          {
            label: barLabel,
            value: bar === null ? 'None yet' : `${formatScore(bar)} ${unit}`,
          },
          ...(bar_interval === null
            ? []
            : [
                {
                  label: 'Bar with 99 % confidence',
                  value: `${formatScore(bar_interval.low)} to ${formatScore(bar_interval.high)} ${unit}`,
                },
              ]),
          { label: 'Scores', value: isPlaced ? formatCount(samples) : ofRequired(samples, required.samples) },
          { label: 'Players', value: isPlaced ? formatCount(players) : ofRequired(players, required.players) },
          ...(isPlaced
            ? []
            : [{ label: 'Scores that count of one player', value: `At most ${formatCount(fair_share)}` }]),
        ]}
      />
      {samples === 0 && isPlaced ? (
        <p className="muted">No score of its own placed the bar.</p>
      ) : (
        <ScoreHistogramChart
          title="Scores for the bar"
          scores={{ count: samples, bins: report.histogram.map((bin) => ({ ...bin, count: bin.samples })) }}
          bar={bar === null ? undefined : { value: bar, label: barLabel }}
          challenge={challenge}
          note={histogramNote({ source: 'bar_samples', complete: true, count: samples })}
        />
      )}
      {quantiles.length > 0 && <Quantiles quantiles={quantiles} unit={unit} />}
      {seeded !== null && <Seeded seeded={seeded} unit={unit} />}
    </>
  );
}

function ofRequired(count: number, required: number): string {
  return `${formatCount(count)} of ${formatCount(required)}`;
}

interface QuantilesProps {
  readonly quantiles: readonly Quantile[];
  readonly unit: string;
}

function Quantiles({ quantiles, unit }: QuantilesProps): ReactNode {
  return (
    <>
      <h3>The score at or below which a share of them lies</h3>
      <Facts
        items={quantiles.map(({ share, score }) => ({
          label: `${formatScore(share * 100)} %`,
          value: `${formatScore(score)} ${unit}`,
        }))}
      />
    </>
  );
}

interface SeededProps {
  readonly seeded: SeededDistribution;
  readonly unit: string;
}

function Seeded({ seeded, unit }: SeededProps): ReactNode {
  const { p5, p25, p50, p75, p95, sample_size } = seeded;
  return (
    <>
      <h3>Percentiles of {formatCount(sample_size)} scores, from the partner</h3>
      <Facts
        items={Object.entries({ '5 %': p5, '25 %': p25, '50 %': p50, '75 %': p75, '95 %': p95 }).map(
          ([label, score]) => ({ label, value: `${formatScore(score)} ${unit}` }),
        )}
      />
    </>
  );
}
