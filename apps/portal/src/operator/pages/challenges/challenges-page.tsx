import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment, OperatorChallenge } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { CHALLENGE_COLUMNS } from '../../../contests/challenge-columns.tsx';
import { CHALLENGE_STATUSES } from '../../../contests/statuses.ts';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page } from '../../../kit/page.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { EnvironmentBand, EnvironmentTabs } from '../../layout/environments.tsx';
import { ChallengeId } from '../../layout/item-ids.tsx';
import { ProgramName } from '../../layout/program-name.tsx';

const route = getRouteApi('/shell/programs/$programId/challenges');

const COLUMNS: readonly Column<OperatorChallenge>[] = [
  { name: 'Challenge', grow: 2, cell: (challenge) => <ChallengeLink challenge={challenge} /> },
  ...CHALLENGE_COLUMNS,
  { name: 'Id', cell: ({ id }) => <ChallengeId value={id} isShort /> },
];

export function ChallengesPage(): ReactNode {
  const { programId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { environment = 'live', status } = search;
  const path = `/programs/${programId}/challenges`;
  const challenges = useList<OperatorChallenge>(path, { environment, status });
  return (
    <Page
      title="Challenges"
      above={
        <Link to="/programs/$programId" params={{ programId }}>
          <ProgramName programId={programId} />
        </Link>
      }
      beside={<EnvironmentTabs path={path} current={environment} />}
      actions={
        <Link
          className="button"
          data-tone="primary"
          to="/programs/$programId/challenges/new"
          params={{ programId }}
          search={{ environment }}
        >
          Create a challenge
        </Link>
      }
    >
      <EnvironmentBand environment={environment} />
      <FilterBar
        fields={[{ name: 'status', label: 'Status', options: CHALLENGE_STATUSES }]}
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
              empty={<NoChallenges environment={environment} status={status} />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function ChallengeLink({ challenge: { id, name, rung } }: { readonly challenge: OperatorChallenge }): ReactNode {
  return (
    <>
      <Link className="row-link" to="/challenges/$challengeId" params={{ challengeId: id }}>
        {name}
      </Link>
      {rung > 1 && <span className="muted"> rung {rung}</span>}
    </>
  );
}

interface NoChallengesProps {
  readonly environment: Environment;
  readonly status: string | undefined;
}

function NoChallenges({ environment, status }: NoChallengesProps): ReactNode {
  if (status !== undefined) return <Empty title={`No challenge is ${status} in the ${environment} environment`} />;
  return (
    <Empty title={`No challenges in the ${environment} environment yet`}>
      <p>“Create a challenge” opens one. Its partner’s server then finds it in GET /v1/challenges.</p>
    </Empty>
  );
}
