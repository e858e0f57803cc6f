import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorChallenge } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { CHALLENGE_COLUMNS } from '../../contests/challenge-columns.tsx';
import { CHALLENGE_STATUSES } from '../../contests/statuses.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { ListTable } from '../../kit/list-table.tsx';
import { Page } from '../../kit/page.tsx';
import { challengeListSamples } from '../../kit/samples.ts';
import type { Column } from '../../kit/table.tsx';
import { AttemptsLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';

const route = getRouteApi('/p/$programId/$environment/challenges');

const COLUMNS: readonly Column<OperatorChallenge>[] = [
  { name: 'Challenge', grow: 2, cell: (challenge) => <ChallengeLink challenge={challenge} /> },
  ...CHALLENGE_COLUMNS,
  { name: 'Attempts', cell: ({ id }) => <AttemptsLink of={{ challenge_id: id }}>Show</AttemptsLink> },
];

export function ChallengesPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const challenges = useList<OperatorChallenge>(pathOf('/challenges'), { environment, status: search.status });
  return (
    <Page title="Challenges">
      <FilterBar
        fields={[{ name: 'status', label: 'Status', options: CHALLENGE_STATUSES }]}
        value={search}
        onChange={(next) => void navigate({ search: next })}
      />
      <ListTable
        reading={challenges}
        caption="Challenges"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<NoChallenges status={search.status} />}
      />
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
