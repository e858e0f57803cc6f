import type { ReactNode } from 'react';
import type { DescribedPayout } from '../../../api/api-types.ts';
import { Status } from '../../../kit/status.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { type DayLimit, dayLimitsOf } from './day-limits.ts';

const COLUMNS: readonly Column<DayLimit>[] = [
  { name: 'In 24 hours', grow: 3, cell: ({ what }) => what },
  { name: 'Paid', align: 'end', cell: ({ paid }) => paid },
  { name: 'Limit', align: 'end', cell: ({ limit }) => limit },
];

const WITH_THIS: Column<DayLimit> = {
  name: 'With this payout',
  align: 'end',
  cell: ({ isExceeded }) => {
    if (isExceeded === null) return <span className="muted">–</span>;
    return isExceeded ? <Status value="over the limit" tone="warn" /> : 'within the limit';
  },
};

const COLUMNS_OF_HELD = [...COLUMNS, WITH_THIS];

/** Shows the sums of the day beside their limits. They include the payout once it is paid. */
export function LimitsTable({ payout }: { readonly payout: DescribedPayout }): ReactNode {
  return (
    <Table
      caption="Payouts of 24 hours beside their limits"
      columns={payout.status === 'held' ? COLUMNS_OF_HELD : COLUMNS}
      rows={dayLimitsOf(payout)}
      keyOf={({ what }) => what}
      empty={null}
    />
  );
}
