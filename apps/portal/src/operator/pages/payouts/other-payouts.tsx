import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Payout } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AmountAndStatus, PayoutReason } from './payout-cells.tsx';

const COLUMNS: readonly Column<Payout>[] = [
  { name: 'Payout', cell: (payout) => <AmountAndStatus payout={payout} /> },
  { name: 'Why, and what was decided', grow: 3, cell: (payout) => <PayoutReason payout={payout} /> },
  {
    name: 'Program',
    cell: ({ program_id: programId, environment }) => (
      <Link to="/programs/$programId" params={{ programId }}>
        <EnvironmentBadge value={environment} />
      </Link>
    ),
  },
  { name: 'Won', align: 'end', cell: (payout) => <Time at={payout.created_at} /> },
];

const PAGE_ROWS = 10;

interface OtherPayoutsProps {
  readonly of: Payout;
}

/** The other payouts to the account, in every program, with what operators decided on them. */
export function OtherPayouts({ of }: OtherPayoutsProps): ReactNode {
  const reading = useList<Payout>('/payouts', { account_id: of.account_id, limit: PAGE_ROWS });
  return (
    <Loaded reading={reading}>
      {(list) => (
        <>
          <Table
            caption="Other payouts to the account"
            columns={COLUMNS}
            rows={list.rows.filter(({ award_id }) => award_id !== of.award_id)}
            keyOf={({ award_id }) => award_id}
            empty={<Empty title="The account has no other payout" />}
          />
          <More list={list} />
        </>
      )}
    </Loaded>
  );
}
