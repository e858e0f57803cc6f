import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorProgram } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { Id } from '../../../kit/id.tsx';
import { ListTable } from '../../../kit/list-table.tsx';
import { Page } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import type { Column } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { CreateProgram } from './create-program.tsx';
import { lastUse } from './keys.ts';

const COLUMNS: readonly Column<OperatorProgram>[] = [
  {
    name: 'Program',
    grow: 2,
    cell: ({ id, name }) => (
      <Link className="row-link" to="/programs/$programId" params={{ programId: id }}>
        {name}
      </Link>
    ),
  },
  {
    name: 'Status',
    cell: ({ status, deletion_scheduled }) => (
      <>
        <Status value={status} /> {deletion_scheduled && <Status value="deletion scheduled" tone="bad" />}
      </>
    ),
  },
  { name: 'Id', grow: 2, cell: ({ id }) => <Id value={id} what="program" /> },
  { name: 'Test key used', cell: ({ keys }) => <Time at={lastUse(keys, 'test')} /> },
  { name: 'Live key used', cell: ({ keys }) => <Time at={lastUse(keys, 'live')} /> },
  { name: 'Created', cell: (program) => <Time at={program.created_at} /> },
];

export function ProgramsPage(): ReactNode {
  const programs = useList<OperatorProgram>('/programs');
  return (
    <Page title="Programs" actions={<CreateProgram />}>
      <ListTable
        reading={programs}
        caption="Programs"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There is no program yet">
            <p>“Create a program” makes a draft, which works in test at once. Its approval adds live.</p>
          </Empty>
        }
      />
    </Page>
  );
}
