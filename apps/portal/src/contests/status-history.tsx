import type { ReactNode } from 'react';
import type { ChallengeStatusStep } from '../api/api-types.ts';
import { Empty } from '../kit/empty.tsx';
import { Status } from '../kit/status.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { causeWords } from './challenge-words.ts';

const COLUMNS: readonly Column<ChallengeStatusStep>[] = [
  { name: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    name: 'Change',
    cell: ({ from, to }) =>
      from === to ? (
        <Status value={to} />
      ) : (
        <span className="step">
          <Status value={from} /> <span className="for-screen-readers">to</span>
          <span aria-hidden="true">→</span> <Status value={to} />
        </span>
      ),
  },
  { name: 'Why', grow: 2, cell: ({ cause }) => causeWords(cause) },
  { name: 'Note', grow: 2, cell: ({ note }) => note ?? <span className="muted">–</span> },
];

interface StatusHistoryProps<Step> {
  /** The changes are oldest first. */
  readonly changes: readonly Step[];
  readonly moreColumns?: readonly Column<Step>[];
}

export function StatusHistory<Step extends ChallengeStatusStep>(props: StatusHistoryProps<Step>): ReactNode {
  const { changes, moreColumns = [] } = props;
  return (
    <Table
      caption="Status history"
      columns={[...COLUMNS, ...moreColumns]}
      rows={changes.toReversed()}
      keyOf={({ at, to, cause }) => `${at} ${to} ${cause}`}
      empty={<Empty title="Its status has not changed since it was created" />}
    />
  );
}
