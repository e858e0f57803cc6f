import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { Payout } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { shortId } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page } from '../../../kit/page.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AccountId, AttemptId, RoundId } from '../../layout/item-ids.tsx';
import type { DecisionVerb } from './consequences.ts';
import { Decision, PayoutBackground } from './decision.tsx';
import { PAYOUT_FACTS } from './facts.ts';
import { AmountAndStatus, PayoutReason } from './payout-cells.tsx';
import { ENVIRONMENTS, STATUSES } from './search.ts';
import './payouts.css';

const route = getRouteApi('/shell/payouts');

const FIELDS = [
  { name: 'status', label: 'Status', options: STATUSES },
  { name: 'environment', label: 'Environment', options: ENVIRONMENTS },
  { name: 'account_id', label: 'Account' },
  { name: 'program_id', label: 'Program' },
] as const;

interface Asking {
  readonly payout: Payout;
  readonly verb: DecisionVerb;
}

export function PayoutsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const payouts = useList<Payout>('/payouts', search);
  const [asking, setAsking] = useState<Asking>();
  const isFiltered = Object.keys(search).length > 0;
  const columns = useMemo(() => columnsWith(setAsking), []);
  return (
    <Page title="Payouts">
      <p className="muted">Money on its way to players, in test and in live. One that is held waits for an operator.</p>
      <FilterBar fields={FIELDS} value={search} onChange={(next) => void navigate({ search: next })} />
      <Loaded reading={payouts}>
        {(list) => (
          <>
            <Table
              caption="Payouts"
              columns={columns}
              rows={list.rows}
              keyOf={(payout) => payout.award_id}
              empty={isFiltered ? <NothingMatches hasMore={list.hasMore} /> : <Empty title="Nobody has won yet" />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
      {asking !== undefined && (
        <Decision {...asking} facts={PAYOUT_FACTS} onClose={() => setAsking(undefined)}>
          <PayoutBackground payout={asking.payout} />
        </Decision>
      )}
    </Page>
  );
}

/** A page of a filtered list reads at most 5,000 payouts. */
function NothingMatches({ hasMore }: { readonly hasMore: boolean }): ReactNode {
  return (
    <Empty title="No payout matches these filters">
      {hasMore && <p>None of the newest 5,000 does. “Load more” looks further back.</p>}
    </Empty>
  );
}

function columnsWith(ask: (asking: Asking) => void): readonly Column<Payout>[] {
  return [
    {
      name: 'Payout',
      cell: (payout) => <AmountAndStatus payout={payout} />,
    },
    { name: 'Why', grow: 3, cell: (payout) => <PayoutReason payout={payout} /> },
    {
      name: 'Account',
      cell: ({ account_id }) => <AccountId value={account_id} isShort />,
    },
    {
      name: 'Program',
      cell: ({ program_id: programId, environment }) => (
        <>
          <Link to="/programs/$programId" params={{ programId }}>
            <code>{shortId(programId)}</code>
          </Link>{' '}
          <EnvironmentBadge value={environment} />
        </>
      ),
    },
    { name: 'Won in', cell: (payout) => <WonIn payout={payout} /> },
    { name: 'Won', align: 'end', cell: (payout) => <Time at={payout.created_at} /> },
    {
      name: 'Decide',
      align: 'end',
      cell: (payout) =>
        payout.status === 'held' && (
          <span className="payout-decide">
            <Button aria-label={`Release ${payout.award_id}`} onClick={() => ask({ payout, verb: 'release' })}>
              Release
            </Button>
            <Button aria-label={`Deny ${payout.award_id}`} onClick={() => ask({ payout, verb: 'deny' })}>
              Deny
            </Button>
          </span>
        ),
    },
  ];
}

function WonIn({ payout }: { readonly payout: Payout }): ReactNode {
  const { attempt_id: attemptId, round_id: roundId } = payout;
  return attemptId === null ? (
    <>
      round <RoundId value={roundId ?? ''} isShort />
    </>
  ) : (
    <>
      attempt <AttemptId value={attemptId} isShort />
    </>
  );
}
