import type { ReactNode } from 'react';
import type { OperatorChallenge } from '../api/api-types.ts';
import { Facts } from '../kit/facts.tsx';
import { formatCount, formatScore } from '../kit/format.ts';
import { Money } from '../kit/money.tsx';
import { Section } from '../kit/page.tsx';
import { Time } from '../kit/time.tsx';
import { barSourceWords } from './challenge-words.ts';

interface TermsSectionProps {
  readonly challenge: OperatorChallenge;
  /** The link to the rung before, if there is one. */
  readonly parent: ReactNode;
}

/** Shows every term that the operator set. */
export function TermsSection({ challenge, parent }: TermsSectionProps): ReactNode {
  const { score_min, score_max, jurisdictions, parent_challenge_id } = challenge;
  return (
    <Section title="Terms">
      {challenge.description !== null && <p>{challenge.description}</p>}
      <Facts
        items={[
          { label: 'Fee once live', value: <Money amount={challenge.configured_fee} /> },
          { label: 'Full prize', value: <Money amount={challenge.configured_prize} /> },
          { label: 'Prize goes to', value: prizeWords(challenge) },
          { label: 'Metric', value: `${challenge.metric_name} (${challenge.metric_unit})` },
          { label: 'Better score', value: challenge.threshold_direction === 'higher_is_better' ? 'Higher' : 'Lower' },
          { label: 'Plausible scores', value: windowWords(score_min, score_max) },
          ...calibrationFacts(challenge),
          { label: 'Paid attempts a day', value: `${formatCount(challenge.daily_attempt_cap)} for each player` },
          { label: 'Integrity tier', value: challenge.integrity_tier },
          { label: 'Verification level', value: `${challenge.required_verification_level} or more` },
          { label: 'Jurisdictions', value: jurisdictions.length === 0 ? 'All' : jurisdictions.join(', ') },
          { label: 'Rung', value: challenge.rung },
          ...(parent_challenge_id === null ? [] : [{ label: 'Rung before', value: parent }]),
          { label: 'Created', value: <Time at={challenge.created_at} /> },
        ]}
      />
    </Section>
  );
}

/** A top_n challenge has no such facts: its best scores set the bar without calibration. */
function calibrationFacts(challenge: OperatorChallenge) {
  const { prize_structure, calibration_source, min_calibration_n, min_calibration_players } = challenge;
  if (prize_structure === 'top_n') return [];
  const needs = `${formatCount(min_calibration_n)} scores of ${formatCount(min_calibration_players)} players`;
  return [
    { label: 'Bar comes from', value: barSourceWords(calibration_source) },
    { label: 'Calibration needs', value: needs },
  ];
}

function prizeWords({ prize_structure, top_n }: OperatorChallenge): string {
  if (prize_structure === 'threshold' || top_n === null) return 'Each player once, with a score that clears the bar';
  return `Each player once, with a score among the best ${formatCount(top_n)} so far`;
}

function windowWords(min: number | null, max: number | null): string {
  if (min === null && max === null) return 'Any';
  if (min === null) return `Up to ${formatScore(max ?? 0)}`;
  return max === null ? `From ${formatScore(min)}` : `${formatScore(min)} to ${formatScore(max)}`;
}
