import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorChallenge } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { formatShare } from '../../kit/format.ts';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Page } from '../../kit/page.tsx';
import { challengeListSamples } from '../../kit/samples.ts';
import { Status } from '../../kit/status.tsx';
import { type Column, More, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptsLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { STATUSES } from './search.ts';
import { barWords } from './words.ts';

const route = getRouteApi('/p/$programId/$environment/challenges');

const COLUMNS: readonly Column<OperatorChallenge>[] = [
  { name: 'Challenge', grow: 2, cell: (challenge) => <ChallengeLink challenge={challenge} /> },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Fee', align: 'end', cell: ({ fee }) => <Money amount={fee} /> },
  { name: 'Prize on offer', align: 'end', cell: (challenge) => <Prize challenge={challenge} /> },
  { name: 'Bar', cell: barWords },
  { name: 'Target pass rate', align: 'end', cell: ({ target_pass_rate }) => formatShare(target_pass_rate) },
  { name: 'Attempts', cell: ({ id }) => <AttemptsLink of={{ challenge_id: id }}>Show</AttemptsLink> },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];

export function ChallengesPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const challenges = useList<OperatorChallenge>(pathOf('/challenges'), { environment, status: search.status });
  return (
    <Page title="Challenges">
      <FilterBar
        fields={[{ name: 'status', label: 'Status', options: STATUSES }]}
        value={search}
        onChange={(next) => void navigate({ search: next })}
      />
      <Loaded reading={challenges}>
        {(list) => (
          <>
            <Table
              caption="Challenges"
              columns={COLUMNS}
              rows={list.rows}
              keyOf={({ id }) => id}
              empty={<NoChallenges status={search.status} />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function ChallengeLink({ challenge: { id, name, rung } }: { readonly challenge: OperatorChallenge }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <>
      <Link
        className="row-link"
        to="/p/$programId/$environment/challenges/$challengeId"
        params={{ programId, environment, challengeId: id }}
      >
        {name}
      </Link>
      {rung > 1 && <span className="muted"> rung {rung}</span>}
    </>
  );
}

/** What a ramp caps, and what is offered without it. */
export function Prize({ challenge: { prize, ramp } }: { readonly challenge: OperatorChallenge }): ReactNode {
  return (
    <>
      <Money amount={prize} />
      {ramp !== undefined && (
        <span className="muted">
          {' '}
          of <Money amount={ramp.fullPrize} />
        </span>
      )}
    </>
  );
}

function NoChallenges({ status }: { readonly status: string | undefined }): ReactNode {
  const { environment } = useProgram();
  if (status !== undefined) return <Empty title={`No challenge is ${status} in the ${environment} environment`} />;
  return (
    <Empty title={`No challenges in the ${environment} environment yet`}>
      <p>An operator of this host creates challenges with you. Your server then finds them with this call.</p>
      <CodeSample title="List the challenges" samples={challengeListSamples(environment)} />
    </Empty>
  );
}
