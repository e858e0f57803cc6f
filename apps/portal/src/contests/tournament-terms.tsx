import type { ReactNode } from 'react';
import type { OperatorTournament } from '../api/api-types.ts';
import { Facts } from '../kit/facts.tsx';
import { formatCount } from '../kit/format.ts';
import { Id } from '../kit/id.tsx';
import { Money } from '../kit/money.tsx';
import { Section } from '../kit/page.tsx';
import { Time } from '../kit/time.tsx';

/** Shows everything that the operator set, except the purse. */
export function TournamentTerms({ tournament }: { readonly tournament: OperatorTournament }): ReactNode {
  const { round_length_seconds: length, tiebreak_metric_name: tiebreak } = tournament;
  return (
    <Section title="Terms">
      <Facts
        items={[
          { label: 'Entry fee', value: <Money amount={tournament.entry_fee} /> },
          { label: 'Purse', value: <Money amount={tournament.purse_amount} /> },
          { label: 'Attempts for each player', value: `${formatCount(tournament.attempt_cap)} in a round` },
          { label: 'Metric', value: `${tournament.metric_name} (${tournament.metric_unit})` },
          { label: 'Better score', value: directionWords(tournament.threshold_direction) },
          {
            label: 'Tiebreak',
            value:
              tiebreak === null
                ? 'None'
                : `${tiebreak}, ${directionWords(tournament.tiebreak_direction).toLowerCase()}`,
          },
          { label: 'A round needs', value: needWords(tournament) },
          { label: 'A round lasts', value: length === null ? 'Set by the operator each time' : lengthWords(length) },
          { label: 'Id', value: <Id value={tournament.id} what="tournament" /> },
          { label: 'Created', value: <Time at={tournament.created_at} /> },
        ]}
      />
    </Section>
  );
}

function needWords({ min_entrants, min_scored_attempts }: OperatorTournament): string {
  const entrants = `${formatCount(min_entrants)} ${min_entrants === 1 ? 'entrant' : 'entrants'}`;
  return min_scored_attempts === 0 ? entrants : `${entrants}, and ${formatCount(min_scored_attempts)} scored attempts`;
}

function directionWords(direction: OperatorTournament['tiebreak_direction']): string {
  return direction === 'lower_is_better' ? 'Lower' : 'Higher';
}

function lengthWords(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 6) / 10} h` : `${Math.round(minutes / 144) / 10} days`;
}
