/**
 * The columns of a round's standings. The caller's `player` renders who the player is: an operator
 * may see more than a developer.
 */
import type { ReactNode } from 'react';
import type { LeaderboardRow, OperatorStanding } from '../api/api-types.ts';
import { formatCount, formatScore } from '../kit/format.ts';
import { Money } from '../kit/money.tsx';
import { Status } from '../kit/status.tsx';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';

type Standing = Omit<LeaderboardRow, 'is_player' | 'payout_status'> & Pick<OperatorStanding, 'payout_status'>;

export function standingsColumns<Row extends Standing>(
  unit: string,
  player: (row: Row) => ReactNode,
): readonly Column<Row>[] {
  return [
    { name: 'Rank', cell: ({ rank, final_rank }) => formatCount(final_rank ?? rank) },
    { name: 'Player', grow: 2, cell: player },
    { name: `Best score (${unit})`, align: 'end', cell: ({ best_score }) => formatScore(best_score) },
    {
      name: 'Tiebreak',
      align: 'end',
      cell: ({ best_tiebreak }) =>
        best_tiebreak === null ? <span className="muted">–</span> : formatScore(best_tiebreak),
    },
    { name: 'Scored', cell: ({ best_score_at }) => <Time at={best_score_at} /> },
    { name: 'Paid attempts', align: 'end', cell: ({ paid_attempts }) => formatCount(paid_attempts) },
    { name: 'Payout', align: 'end', cell: ({ payout_amount }) => <Money amount={payout_amount} /> },
    { name: 'Payout status', cell: ({ payout_status }) => <Status value={payout_status} /> },
  ];
}
