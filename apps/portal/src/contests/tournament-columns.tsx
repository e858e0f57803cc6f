/** The columns of lists of tournaments and of rounds, after the link. */
import type { OperatorTournament, Round } from '../api/api-types.ts';
import { formatCount } from '../kit/format.ts';
import { Money } from '../kit/money.tsx';
import { Status } from '../kit/status.tsx';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';

const NOTHING = <span className="muted">–</span>;

export const TOURNAMENT_COLUMNS: readonly Column<OperatorTournament>[] = [
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Entry fee', align: 'end', cell: ({ entry_fee }) => <Money amount={entry_fee} /> },
  { name: 'Purse', align: 'end', cell: ({ purse_amount }) => <Money amount={purse_amount} /> },
  {
    name: 'Latest round',
    cell: ({ current_round: round }) =>
      round === null ? <span className="muted">none yet</span> : <Status value={round.status} />,
  },
  {
    name: 'Closes',
    cell: ({ current_round: round }) => (round === null ? NOTHING : <Time at={round.closes_at} />),
  },
  {
    name: 'Entrants',
    align: 'end',
    cell: ({ current_round: round }) => (round === null ? NOTHING : formatCount(round.entrant_count)),
  },
];

export const ROUND_COLUMNS: readonly Column<Round>[] = [
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Closes', cell: ({ closes_at }) => <Time at={closes_at} /> },
  { name: 'Entrants', align: 'end', cell: ({ entrant_count }) => formatCount(entrant_count) },
  { name: 'Purse', align: 'end', cell: ({ purse_amount }) => <Money amount={purse_amount} /> },
  { name: 'Settled', cell: ({ settled_at }) => (settled_at === null ? NOTHING : <Time at={settled_at} />) },
];
