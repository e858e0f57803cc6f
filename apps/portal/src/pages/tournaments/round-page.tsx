import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorTournament, Round, RoundStandings } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { PurseTable } from '../../contests/purse-table.tsx';
import { RoundFacts, utcMinute } from '../../contests/round-facts.tsx';
import { roundWords } from '../../contests/tournament-words.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { attemptSamples } from '../../kit/samples.ts';
import { Status } from '../../kit/status.tsx';
import { AttemptsLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { StandingsTable } from './standings-table.tsx';

const route = getRouteApi('/p/$programId/$environment/rounds/$roundId');
const REFRESH_MS = 10_000;

export function RoundPage(): ReactNode {
  const { pathOf } = useProgram();
  const { roundId } = route.useParams();
  // The counts alone: the rows are read by pages, below.
  const reading = useRead<RoundStandings>(
    pathOf(`/rounds/${roundId}/standings`),
    { limit: 1 },
    { refreshMs: REFRESH_MS },
  );
  if (reading.state !== 'loaded') {
    return (
      <Page title="Round">
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  return <LoadedRound standings={reading.data} />;
}

function LoadedRound({ standings }: { readonly standings: RoundStandings }): ReactNode {
  const { programId, environment, pathOf } = useProgram();
  const { round } = standings;
  const { id: roundId, tournament_id: tournamentId } = round;
  const reading = useRead<OperatorTournament>(pathOf(`/tournaments/${tournamentId}`));
  if (reading.state === 'loaded' && reading.data.environment !== environment) {
    const params = { programId, roundId, environment: reading.data.environment };
    return <Navigate replace to="/p/$programId/$environment/rounds/$roundId" params={params} />;
  }
  const tournament = (
    <Link to="/p/$programId/$environment/tournaments/$tournamentId" params={{ programId, environment, tournamentId }}>
      {round.tournament_name ?? 'Tournament'}
    </Link>
  );
  return (
    <Page
      title={`Round of ${utcMinute(round.opens_at)}`}
      above={tournament}
      beside={<Status value={round.status} />}
      actions={
        <AttemptsLink of={{ tournament_round_id: roundId }} className="button">
          Show attempts
        </AttemptsLink>
      }
    >
      <p>{roundWords(round, Date.now())}</p>
      <RoundFacts round={round} scoredPlayers={standings.scored_players} />
      <Loaded reading={reading}>{({ metric_unit }) => <Standings standings={standings} unit={metric_unit} />}</Loaded>
      <Section title="Purse">
        <PurseTable purse={round.purse_table} />
      </Section>
      {round.status === 'open' && <EnterRound round={round} />}
    </Page>
  );
}

function Standings({ standings, unit }: { readonly standings: RoundStandings; readonly unit: string }): ReactNode {
  const { round, withheld } = standings;
  return (
    <Section title="Standings">
      {withheld ? (
        <Empty title="Only counts until the round is over">
          <p>
            Developers are insiders: who sees a running board could help a player. Ranks and scores appear here once the
            round is settled or cancelled.
          </p>
        </Empty>
      ) : (
        <StandingsTable roundId={round.id} unit={unit} />
      )}
    </Section>
  );
}

function EnterRound({ round: { id } }: { readonly round: Round }): ReactNode {
  const { environment } = useProgram();
  return (
    <Section title="Try it">
      <CodeSample title="Create an attempt" samples={attemptSamples(environment, { tournament_round_id: id })} />
    </Section>
  );
}
