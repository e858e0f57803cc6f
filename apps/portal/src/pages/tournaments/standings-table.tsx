import { type ReactNode, useMemo } from 'react';
import type { LeaderboardRow } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { standingsColumns } from '../../contests/standings-columns.tsx';
import { Empty } from '../../kit/empty.tsx';
import { ListTable } from '../../kit/list-table.tsx';
import { PlayerLink } from '../../layout/attempt-links.tsx';
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
  const columns = useMemo(() => standingsColumns<LeaderboardRow>(unit, playerOf), [unit]);
  const standings = useList<LeaderboardRow>(pathOf(`/rounds/${roundId}/standings`), { limit: PAGE_ROWS });
  return (
    <ListTable
      reading={standings}
      caption="Standings"
      columns={columns}
      keyOf={({ rank, player_ref }) => `${rank} ${player_ref}`}
      empty={<Empty title="No scores were reported" />}
    />
  );
}

function playerOf({ player_ref }: LeaderboardRow): ReactNode {
  return <PlayerLink value={player_ref} />;
}
