import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AttemptLine } from '../../api/api-types.ts';
import { type LiveTail, useLiveTail } from '../../api/use-live-tail.ts';
import { ATTEMPT_STATUSES, withOneContest } from '../../attempts/filters.ts';
import { verdictOf } from '../../attempts/verdict.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { idField } from '../../kit/filters.ts';
import { formatScore } from '../../kit/format.ts';
import { LiveTable } from '../../kit/live-table.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Page } from '../../kit/page.tsx';
import { attemptSamples } from '../../kit/samples.ts';
import { Status } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptId, PlayerLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { ContestLink } from './contest-link.tsx';
import type { readSearch } from './search.ts';

const route = getRouteApi('/p/$programId/$environment/attempts');

type Search = ReturnType<typeof readSearch>;

const FIELDS = [
  { name: 'status', label: 'Status', options: ATTEMPT_STATUSES },
  { name: 'player_ref', label: 'Player', placeholder: 'player_ref' },
  { name: 'challenge_id', label: 'Challenge', ...idField },
  { name: 'tournament_round_id', label: 'Round', ...idField },
] as const;

const COLUMNS: readonly Column<AttemptLine>[] = [
  { name: 'Created', grow: 1.2, cell: (attempt) => <Time at={attempt.created_at} /> },
  {
    name: 'Attempt',
    grow: 2,
    cell: ({ id }) => <AttemptId value={id} isShort className="row-link" />,
  },
  { name: 'Player', grow: 2.5, cell: (attempt) => <PlayerLink value={attempt.player_ref} /> },
  { name: 'Contest', grow: 2.5, cell: (attempt) => <ContestLink attempt={attempt} isNamed /> },
  { name: 'Fee', grow: 0.8, align: 'end', cell: (attempt) => <Money amount={attempt.fee} /> },
  { name: 'Score', grow: 0.9, align: 'end', cell: ({ score }) => (score === null ? '–' : formatScore(score)) },
  {
    name: 'Result',
    grow: 2.2,
    cell: (attempt) => {
      const { text, tone } = verdictOf(attempt);
      return <Status value={text} tone={tone} />;
    },
  },
];

const keyOf = ({ id }: AttemptLine) => id;

/** An award that is held waits for an operator's decision. */
function isFinal({ status, award }: AttemptLine): boolean {
  return status !== 'open' && award?.payout_status !== 'held';
}

export function AttemptsPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const reading = useLiveTail<AttemptLine>({
    path: pathOf('/attempts'),
    query: { environment, ...search },
    keyOf,
    changes: { isFinal, pathOf: ({ id }) => pathOf(`/attempts/${id}`) },
  });
  const apply = (next: Search) => void navigate({ search: withOneContest(search, next) });
  return (
    <Page title="Attempts">
      <FilterBar fields={FIELDS} value={search} onChange={apply} />
      <Loaded reading={reading}>
        {(tail) => (
          <LiveTable
            tail={tail}
            caption="Attempts, newest first"
            columns={COLUMNS}
            keyOf={keyOf}
            empty={<NoAttempts tail={tail} isFiltered={Object.values(search).some((value) => value !== undefined)} />}
          />
        )}
      </Loaded>
    </Page>
  );
}

interface NoAttemptsProps {
  readonly tail: LiveTail<AttemptLine>;
  readonly isFiltered: boolean;
}

/** A page without a match may not be the last: the search continues by itself. */
function NoAttempts({ tail, isFiltered }: NoAttemptsProps): ReactNode {
  const { environment } = useProgram();
  if (tail.isLoadingMore) {
    return (
      <Empty title="Looking through older attempts ...">
        <p role="status">None of the attempts so far matches. This page shows the first one that does.</p>
      </Empty>
    );
  }
  if (tail.hasMore) {
    return (
      <Empty title="The search has stopped">
        <p>None of the attempts so far matches, and there are older ones.</p>
      </Empty>
    );
  }
  if (isFiltered) {
    return (
      <Empty title="No attempt matches">
        <p>All attempts of the {environment} environment have been looked through. A new one appears here by itself.</p>
      </Empty>
    );
  }
  return (
    <Empty title={`No attempt in the ${environment} environment yet`}>
      <p>Your game server creates one when a player pays to play. It appears here by itself, within seconds.</p>
      <CodeSample title="Create an attempt" samples={attemptSamples(environment, { challenge_id: 'CHALLENGE_ID' })} />
    </Empty>
  );
}
