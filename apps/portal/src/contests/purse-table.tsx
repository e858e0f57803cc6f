import type { ReactNode } from 'react';
import type { PurseRow } from '../api/api-types.ts';
import { Empty } from '../kit/empty.tsx';
import { formatCount } from '../kit/format.ts';
import { Money } from '../kit/money.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { groupRanks, type PurseGroup } from './purse.ts';

const COLUMNS: readonly Column<PurseGroup>[] = [
  {
    name: 'Rank',
    cell: ({ first, last }) => (first === last ? formatCount(first) : `${formatCount(first)} to ${formatCount(last)}`),
  },
  { name: 'Payout', align: 'end', cell: ({ amount }) => <Money amount={amount} /> },
];

export function PurseTable({ purse }: { readonly purse: readonly PurseRow[] }): ReactNode {
  return (
    <div className="compact">
      <Table
        caption="Purse"
        columns={COLUMNS}
        rows={groupRanks(purse)}
        keyOf={({ first }) => String(first)}
        empty={<Empty title="No rank is paid" />}
      />
    </div>
  );
}
