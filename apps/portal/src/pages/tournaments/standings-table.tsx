import type { ReactNode } from 'react';
import type { LeaderboardRow } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { Empty } from '../../kit/empty.tsx';
import { formatCount, formatScore } from '../../kit/format.ts';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, More, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Player } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';

const PAGE_ROWS = 100;

interface StandingsTableProps {
  readonly roundId: string;
  /** The unit of the scores. */
  readonly unit: string;
}

/** The final table of a round that is over, by pages. */
export function StandingsTable({ roundId, unit }: StandingsTableProps): ReactNode {
  const { pathOf } = useProgram();
  const standings = useList<LeaderboardRow>(pathOf(`/rounds/${roundId}/standings`), { limit: PAGE_ROWS });
  return (
    <Loaded reading={standings}>
      {(list) => (
        <>
          <Table
            caption="Standings"
            columns={columnsFor(unit)}
            rows={list.rows}
            keyOf={({ rank, player_ref }) => `${rank} ${player_ref}`}
            empty={<Empty title="No scores were reported" />}
          />
          <More list={list} />
        </>
      )}
    </Loaded>
  );
}

function columnsFor(unit: string): readonly Column<LeaderboardRow>[] {
  return [
    { name: 'Rank', cell: ({ rank, final_rank }) => formatCount(final_rank ?? rank) },
    { name: 'Player', grow: 2, cell: ({ player_ref }) => <Player value={player_ref} /> },
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
