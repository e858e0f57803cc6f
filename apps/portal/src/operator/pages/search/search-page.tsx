import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FoundItem, SearchResult } from '../../../api/api-types.ts';
import type { Failure } from '../../../api/failure.ts';
import { useRead, useRefresh } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { id } from '../../../kit/filters.ts';
import { capitalised, words } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AccountId, AttemptId, ProgramId } from '../../layout/item-ids.tsx';
import { ProgramChoice } from '../../layout/program-choice.tsx';
import { type Address, addressOf } from './address.ts';

const route = getRouteApi('/shell/search');

const isId = id();

export function SearchPage(): ReactNode {
  const { q, program_id: programId } = route.useSearch();
  return (
    <Page title="Search">
      {q === undefined ? (
        <Empty title="What does the player, the partner or the log name?">
          <p>
            Put it into the field of the header: the id of an attempt, receipt, award, account, request, delivery,
            event, challenge, tournament, round, program or developer; an e-mail; or a player_ref, for which you then
            choose the program.
          </p>
        </Empty>
      ) : (
        <Answer key={`${q} ${programId}`} q={q} programId={programId} />
      )}
    </Page>
  );
}

interface Question {
  readonly q: string;
  /** The id is undefined if the text is no player_ref, or if its program is not known. */
  readonly programId: string | undefined;
}

function Answer(question: Question): ReactNode {
  const { q, programId } = question;
  const isIdOrEmail = isId(q) !== undefined || q.includes('@');
  return programId === undefined && !isIdOrEmail ? <WhichProgram q={q} /> : <Results {...question} />;
}

function WhichProgram({ q }: { readonly q: string }): ReactNode {
  return (
    <Section title="In which program is it a player_ref?">
      <p>
        “<bdi>{q}</bdi>” is neither an id nor an e-mail. Each program has player_refs of its own.
      </p>
      <ChooseProgram q={q} />
    </Section>
  );
}

function Results({ q, programId }: Question): ReactNode {
  const reading = useRead<SearchResult>('/search', { q, program_id: programId });
  if (reading.state === 'failed' && programId === undefined && isRefusedAsText(reading.failure)) {
    return <WhichProgram q={q} />;
  }
  return (
    <Loaded reading={reading}>
      {({ data, missing }) => {
        const [only] = data;
        const address = only !== undefined && data.length + missing.length === 1 ? addressOf(only) : null;
        if (address !== null) return <Navigate replace {...linkTo(address)} />;
        return (
          <>
            {missing.length > 0 && <Missing kinds={missing} />}
            <Table
              caption="What was found"
              columns={COLUMNS}
              rows={data}
              keyOf={({ kind, id, environment }) => `${kind} ${id} ${environment}`}
              empty={
                missing.length > 0 ? (
                  <Empty title="Nothing was found elsewhere" />
                ) : (
                  <NothingFound q={q} programId={programId} />
                )
              }
            />
          </>
        );
      }}
    </Loaded>
  );
}

/** Whether the text was refused: while no program is known, a text with an @ must be an e-mail. */
function isRefusedAsText(failure: Failure): boolean {
  return failure.kind === 'refused' && failure.status === 400;
}

function linkTo({ to, search }: Address) {
  return { to: to as string, search };
}

function Missing({ kinds }: { readonly kinds: SearchResult['missing'] }): ReactNode {
  const searchAgain = useRefresh(['/search']);
  return (
    <div className="search-missing">
      <p role="status">
        <strong>Not everything was searched.</strong> A service did not answer in time, so nothing is known of:{' '}
        {kinds.map(words).join(', ')}.
      </p>
      <Button onClick={searchAgain}>Search again</Button>
    </div>
  );
}

function NothingFound({ q, programId }: Question): ReactNode {
  if (programId === undefined) {
    return (
      <Empty title="Nothing has this id or e-mail">
        <p>Compare it with what you were given: all of it counts. It may also be a player_ref:</p>
        <ChooseProgram q={q} />
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has this id, e-mail or player_ref">
      <p>
        The program has linked no account to such a player. A player without an account may have played free attempts:{' '}
        {(['live', 'test'] as const).map((environment) => (
          <span key={environment}>
            <Link to="/attempts" search={{ program_id: programId, environment, player_ref: q }}>
              the attempts in {environment}
            </Link>
            {environment === 'live' ? ', ' : '.'}
          </span>
        ))}
      </p>
    </Empty>
  );
}

function ChooseProgram({ q }: { readonly q: string }): ReactNode {
  const navigate = route.useNavigate();
  return (
    <ProgramChoice
      confirm="Search there"
      onChoose={(programId) => void navigate({ search: { q, program_id: programId } })}
    />
  );
}

const COLUMNS: readonly Column<FoundItem>[] = [
  {
    name: 'Found',
    cell: (item) => {
      const address = addressOf(item);
      const name = item.kind === 'player_ref' ? 'Attempts of the player' : capitalised(words(item.kind));
      return address === null ? name : <Link {...linkTo(address)}>{name}</Link>;
    },
  },
  { name: 'Summary', grow: 2, cell: ({ summary }) => summary },
  { name: 'Environment', cell: ({ environment }) => environment !== null && <EnvironmentBadge value={environment} /> },
  { name: 'Program', cell: ({ program_id: value }) => value !== null && <ProgramId value={value} isShort /> },
  { name: 'Attempt', cell: ({ attempt_id: value }) => value !== null && <AttemptId value={value} isShort /> },
  { name: 'Account', cell: ({ account_id: value }) => value !== null && <AccountId value={value} isShort /> },
];
