/** The facts of a round, and its opening time, which is the heading of its page. */
import type { ReactNode } from 'react';
import type { Round } from '../api/api-types.ts';
import { Facts } from '../kit/facts.tsx';
import { formatCount } from '../kit/format.ts';
import { Id } from '../kit/id.tsx';
import { Money } from '../kit/money.tsx';
import { Time } from '../kit/time.tsx';

interface RoundFactsProps {
  readonly round: Round;
  readonly scoredPlayers: number;
}

export function RoundFacts({ round, scoredPlayers }: RoundFactsProps): ReactNode {
  return (
    <Facts
      items={[
        { label: 'Entrants', value: ofRequired(round.entrant_count, round.min_entrants) },
        { label: 'Players with a score', value: formatCount(scoredPlayers) },
        { label: 'Entry fee', value: <Money amount={round.entry_fee} /> },
        { label: 'Purse', value: <Money amount={round.purse_amount} /> },
        { label: 'Opened', value: <Time at={round.opens_at} /> },
        { label: 'Entries close', value: <Time at={round.entries_close_at} /> },
        { label: 'Closes', value: <Time at={round.closes_at} /> },
        {
          label: 'Settled',
          value: round.settled_at === null ? <span className="muted">not yet</span> : <Time at={round.settled_at} />,
        },
        {
          label: 'Scores needed',
          value: round.min_scored_attempts === 0 ? 'No minimum' : formatCount(round.min_scored_attempts),
        },
        { label: 'Id', value: <Id value={round.id} what="round" /> },
      ]}
    />
  );
}

function ofRequired(count: number, required: number): string {
  return count < required ? `${formatCount(count)} of at least ${formatCount(required)}` : formatCount(count);
}

/** Shows an instant as "2026-11-21 12:00 UTC". */
export function utcMinute(at: string): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
