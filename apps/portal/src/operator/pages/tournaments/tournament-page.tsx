import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorTournament, Round } from '../../../api/api-types.ts';
import { useList, useRead } from '../../../api/use-read.ts';
import { PurseTable } from '../../../contests/purse-table.tsx';
import { utcMinute } from '../../../contests/round-facts.tsx';
import { ROUND_COLUMNS } from '../../../contests/tournament-columns.tsx';
import { TournamentTerms } from '../../../contests/tournament-terms.tsx';
import { tournamentWords } from '../../../contests/tournament-words.ts';
import { Empty } from '../../../kit/empty.tsx';
import { ListTable } from '../../../kit/list-table.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import type { Column } from '../../../kit/table.tsx';
import { EnvironmentBand } from '../../layout/environments.tsx';
import { RoundId } from '../../layout/item-ids.tsx';
import { ProgramName } from '../../layout/program-name.tsx';
import { TournamentActions } from './tournament-actions.tsx';

const route = getRouteApi('/shell/tournaments/$tournamentId');
const REFRESH_MS = 30_000;

export function TournamentPage(): ReactNode {
  const { tournamentId } = route.useParams();
  const reading = useRead<OperatorTournament>(`/tournaments/${tournamentId}`, {}, { refreshMs: REFRESH_MS });
  if (reading.state !== 'loaded') {
    return (
      <Page title="Tournament">
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  const tournament = reading.data;
  const { program_id: programId, environment } = tournament;
  return (
    <Page
      title={tournament.name}
      above={
        <Link to="/programs/$programId/tournaments" params={{ programId }} search={{ environment }}>
          Tournaments of <ProgramName programId={programId} />
        </Link>
      }
      beside={<Status value={tournament.status} />}
      actions={<TournamentActions tournament={tournament} />}
    >
      <EnvironmentBand environment={environment} />
      <p>
        {tournamentWords(tournament.status)}{' '}
        <Link to="/actions" search={{ subject: `tournament:${tournamentId}` }}>
          What operators did
        </Link>
      </p>
      {tournament.description !== null && <p>{tournament.description}</p>}
      <Rounds tournamentId={tournamentId} />
      <div className="columns">
        <TournamentTerms tournament={tournament} />
        <Section title="Purse">
          <PurseTable purse={tournament.purse_table} />
        </Section>
      </div>
    </Page>
  );
}

const COLUMNS: readonly Column<Round>[] = [
  {
    name: 'Opened',
    cell: ({ id, opens_at }) => (
      <Link className="row-link" to="/rounds/$roundId" params={{ roundId: id }}>
        {utcMinute(opens_at)}
      </Link>
    ),
  },
  ...ROUND_COLUMNS,
  { name: 'Round', grow: 2, cell: ({ id }) => <RoundId value={id} isShort /> },
];

function Rounds({ tournamentId }: { readonly tournamentId: string }): ReactNode {
  const rounds = useList<Round>(`/tournaments/${tournamentId}/rounds`, {}, { refreshMs: REFRESH_MS });
  return (
    <Section title="Rounds">
      <ListTable
        reading={rounds}
        caption="Rounds"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No round has opened yet">
            <p>“Open a round” says when it opens and closes.</p>
          </Empty>
        }
      />
    </Section>
  );
}
