/** `<ActionTable rows={rows} empty={<Empty .../>} />`: actions, and all details in a dialog. */
import { Link } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useMemo, useState } from 'react';
import type { ActionOutcome, OperatorAction } from '../../../api/api-types.ts';
import { shortId, words } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Status, type Tone } from '../../../kit/status.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import {
  AccountId,
  AttemptId,
  ChallengeId,
  PayoutId,
  ProgramId,
  RoundId,
  TournamentId,
} from '../../layout/item-ids.tsx';
import { ActionDialog } from './action-dialog.tsx';
import { changesOf } from './changes.ts';
import { readSubject } from './subject.ts';
import './actions.css';

const TONES: Readonly<Record<ActionOutcome, Tone>> = { done: 'good', refused: 'warn', unknown: 'bad' };

interface ActionTableProps {
  readonly rows: readonly OperatorAction[];
  /** This is shown in place of a table without rows. */
  readonly empty: ReactNode;
}

export function ActionTable({ rows, empty }: ActionTableProps): ReactNode {
  const [shown, setShown] = useState<OperatorAction>();
  const columns = useMemo(() => columnsWith(setShown), []);
  return (
    <>
      <Table caption="Actions" columns={columns} rows={rows} keyOf={({ id }) => id} empty={empty} />
      <ActionDialog action={shown} onClose={() => setShown(undefined)} />
    </>
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

const ITEM_IDS: Readonly<Record<string, ComponentType<{ value: string; isShort: boolean }>>> = {
  program: ProgramId,
  account: AccountId,
  challenge: ChallengeId,
  tournament: TournamentId,
  round: RoundId,
  attempt: AttemptId,
  award: PayoutId,
};

/** Links to the page of the subject, or to the actions on a subject that has no page. */
function SubjectLink({ subject }: { readonly subject: string | null }): ReactNode {
  const found = readSubject(subject);
  if (found === undefined || subject === null) return <span className="muted">none</span>;
  const { kind, id } = found;
  const ItemId = ITEM_IDS[kind];
  return (
    <span className="action-subject">
      {words(kind)}{' '}
      {ItemId === undefined ? (
        <Id value={id} what={words(kind)}>
          <Link to="/actions" search={{ subject }}>
            <code>{shortId(id)}</code>
          </Link>
        </Id>
      ) : (
        <ItemId value={id} isShort />
      )}
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
