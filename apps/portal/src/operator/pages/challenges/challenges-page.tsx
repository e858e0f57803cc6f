import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorChallenge } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { CHALLENGE_COLUMNS } from '../../../contests/challenge-columns.tsx';
import { CHALLENGE_STATUSES } from '../../../contests/statuses.ts';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { ListTable } from '../../../kit/list-table.tsx';
import type { Column } from '../../../kit/table.tsx';
import { ContestListPage, NoContests } from '../../contests/contest-list-page.tsx';
import { ChallengeId } from '../../layout/item-ids.tsx';

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
  const challenges = useList<OperatorChallenge>(`/programs/${programId}/challenges`, { environment, status });
  return (
    <ContestListPage kind="challenge" programId={programId} environment={environment}>
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
        empty={
          <NoContests kind="challenge" environment={environment} status={status}>
            “Create a challenge” opens one. Its partner’s server then finds it in GET /v1/challenges.
          </NoContests>
        }
      />
    </ContestListPage>
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
