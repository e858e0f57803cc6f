/** The scores that place the bar of a challenge, and how certain the bar is. */
import type { ReactNode } from 'react';
import type { CalibrationReport, OperatorChallenge, Quantile, SeededDistribution } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { ScoreHistogramChart } from '../../../contests/challenge-charts.tsx';
import { barSourceWords } from '../../../contests/challenge-words.ts';
import { Facts } from '../../../kit/facts.tsx';
import { formatCount, formatScore } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Section } from '../../../kit/page.tsx';
import { type Column, Table } from '../../../kit/table.tsx';

export function CalibrationSection({ challenge }: { readonly challenge: OperatorChallenge }): ReactNode {
  // Millions of samples take seconds to count, so it is read once.
  const reading = useRead<CalibrationReport>(`/challenges/${challenge.id}/calibration`);
  return (
    <Section title="What places the bar">
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
  const barLabel = challenge.status === 'calibrating' ? 'Bar so far' : 'Bar';
  return (
    <>
      <Facts
        items={[
          ...(isTopN ? [] : [{ label: 'Bar comes from', value: barSourceWords(challenge.calibration_source) }]),
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
          { label: 'Scores', value: isTopN ? formatCount(samples) : ofRequired(samples, required.samples) },
          { label: 'Players', value: isTopN ? formatCount(players) : ofRequired(players, required.players) },
          ...(isTopN
            ? []
            : [{ label: 'Scores that count of one player', value: `At most ${formatCount(fair_share)}` }]),
        ]}
      />
      <ScoreHistogramChart
        title="Scores that place the bar"
        scores={{ count: samples, bins: report.histogram.map((bin) => ({ ...bin, count: bin.samples })) }}
        bar={bar === null ? undefined : { value: bar, label: barLabel }}
        challenge={challenge}
        note={`${formatCount(samples)} scores of ${formatCount(players)} players.`}
      />
      {quantiles.length > 0 && (
        <div className="compact">
          <Table
            caption="Scores by share"
            columns={quantileColumns(unit)}
            rows={quantiles}
            keyOf={({ share }) => String(share)}
            empty={null}
          />
        </div>
      )}
      {seeded !== null && <Seeded seeded={seeded} unit={unit} />}
    </>
  );
}

function ofRequired(count: number, required: number): string {
  return `${formatCount(count)} of ${formatCount(required)}`;
}

function quantileColumns(unit: string): readonly Column<Quantile>[] {
  return [
    { name: 'Share of the scores', cell: ({ share }) => `${formatScore(share * 100)} %` },
    { name: `At or below (${unit})`, align: 'end', cell: ({ score }) => formatScore(score) },
  ];
}

interface SeededProps {
  readonly seeded: SeededDistribution;
  readonly unit: string;
}

function Seeded({ seeded, unit }: SeededProps): ReactNode {
  const score = (value: number) => `${formatScore(value)} ${unit}`;
  return (
    <>
      <h3>Percentiles of {formatCount(seeded.sample_size)} scores, from the partner</h3>
      <Facts
        items={[
          { label: '5 %', value: score(seeded.p5) },
          { label: '25 %', value: score(seeded.p25) },
          { label: '50 %', value: score(seeded.p50) },
          { label: '75 %', value: score(seeded.p75) },
          { label: '95 %', value: score(seeded.p95) },
        ]}
      />
    </>
  );
}
