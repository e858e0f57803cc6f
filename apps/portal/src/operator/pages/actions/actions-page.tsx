import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { ActionOutcome, OperatorAction } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { shortId, words } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page } from '../../../kit/page.tsx';
import { Status, type Tone } from '../../../kit/status.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { ActionDialog } from './action-dialog.tsx';
import { changesOf } from './changes.ts';
import type { ActionSearch } from './search.ts';
import { readSubject } from './subject.ts';
import './actions.css';

const route = getRouteApi('/shell/actions');

const FIELDS = [
  { name: 'actor', label: 'Operator', placeholder: 'ana' },
  { name: 'action', label: 'Action', placeholder: 'approve_program' },
  { name: 'subject', label: 'Subject', placeholder: 'account:01a1…' },
] as const;

const TONES: Readonly<Record<ActionOutcome, Tone>> = { done: 'good', refused: 'warn', unknown: 'bad' };

export function ActionsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const actions = useList<OperatorAction>('/actions', search);
  const [shown, setShown] = useState<OperatorAction>();
  const columns = useMemo(() => columnsWith(setShown), []);
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title="Actions">
      <p className="muted">
        Every change that an operator made or tried, written before it had any effect. No entry can be changed.
      </p>
      <FilterBar fields={FIELDS} value={search} onChange={(next) => void navigate({ search: withName(next) })} />
      <Loaded reading={actions}>
        {(list) => (
          <>
            <Table
              caption="Actions"
              columns={columns}
              rows={list.rows}
              keyOf={({ id }) => id}
              empty={
                <Empty title={isFiltered ? 'No action matches these filters' : 'No operator has changed anything'} />
              }
            />
            <More list={list} />
          </>
        )}
      </Loaded>
      <ActionDialog action={shown} onClose={() => setShown(undefined)} />
    </Page>
  );
}

function columnsWith(show: (action: OperatorAction) => void): readonly Column<OperatorAction>[] {
  return [
    {
      name: 'Action',
      cell: (action) => (
        <button type="button" className="action-name" onClick={() => show(action)}>
          {words(action.action)}
        </button>
      ),
    },
    {
      name: 'Operator',
      cell: ({ actor }) => (
        <Link to="/actions" search={{ actor }}>
          {actor}
        </Link>
      ),
    },
    { name: 'Subject', cell: ({ subject }) => <SubjectLink subject={subject} /> },
    { name: 'What changed', grow: 3, cell: (action) => <Changes action={action} /> },
    {
      name: 'Result',
      cell: ({ outcome, status }) => (
        <>
          <Status value={outcome} tone={TONES[outcome]} /> {status !== null && <span className="muted">{status}</span>}
        </>
      ),
    },
    { name: 'When', align: 'end', cell: ({ at }) => <Time at={at} /> },
  ];
}

/** An action is shown as `approve program`, and Laurel knows it as `approve_program`. */
function withName(search: ActionSearch): ActionSearch {
  return { ...search, action: search.action?.replaceAll(' ', '_') };
}

/** A program's page, or for what has no page the actions on it. */
function SubjectLink({ subject }: { readonly subject: string | null }): ReactNode {
  const found = readSubject(subject);
  if (found === undefined || subject === null) return <span className="muted">none</span>;
  const { kind, id } = found;
  return (
    <span className="action-subject">
      {words(kind)}{' '}
      <Id value={id} what={words(kind)}>
        {kind === 'program' ? (
          <Link to="/programs/$programId" params={{ programId: id }}>
            <code>{shortId(id)}</code>
          </Link>
        ) : (
          <Link to="/actions" search={{ subject }}>
            <code>{shortId(id)}</code>
          </Link>
        )}
      </Id>
    </span>
  );
}

const SHOWN_CHANGES = 3;

function Changes({ action: { action, outcome, before, after } }: { readonly action: OperatorAction }): ReactNode {
  if (outcome === 'refused') return <span className="muted">nothing</span>;
  if (outcome === 'unknown') return <span>Not known: it may have taken effect.</span>;
  const changes = changesOf(before, after);
  if (changes.length === 0)
    return <span className="muted">{action.startsWith('create_') ? 'created' : 'in the details'}</span>;
  const more = changes.length - SHOWN_CHANGES;
  return (
    <ul className="action-changes">
      {changes.slice(0, SHOWN_CHANGES).map(({ name, from, to }) => (
        <li key={name}>
          {words(name)}: <span className="muted">{from} →</span> {to}
        </li>
      ))}
      {more > 0 && <li className="muted">and {more} more</li>}
    </ul>
  );
}
