import { Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Program, ProgramList } from '../../api/api-types.ts';
import { useList, useRead } from '../../api/use-read.ts';
import { Header } from '../../frame/header.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Id } from '../../kit/id.tsx';
import { ListTable } from '../../kit/list-table.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page } from '../../kit/page.tsx';
import { Status } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

const COLUMNS: readonly Column<Program>[] = [
  {
    name: 'Program',
    grow: 2,
    cell: ({ id, name }) => (
      <Link className="row-link" to="/p/$programId/$environment" params={{ programId: id, environment: 'test' }}>
        {name}
      </Link>
    ),
  },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Id', grow: 2, cell: ({ id }) => <Id value={id} what="program" /> },
  { name: 'Created', cell: (program) => <Time at={program.created_at} /> },
];

export function ProgramsPage(): ReactNode {
  const programs = useList<Program>('/programs');
  return (
    <>
      <Header />
      <main className="content wide">
        <Page title="Programs">
          <ListTable
            reading={programs}
            caption="Programs"
            columns={COLUMNS}
            keyOf={({ id }) => id}
            empty={
              <Empty title="You have no program yet">
                <p>An operator of this host creates it for you.</p>
              </Empty>
            }
          />
        </Page>
      </main>
    </>
  );
}

/** `/portal`: opens the only program, or the list of all. */
export function HomePage(): ReactNode {
  const programs = useRead<ProgramList>('/programs');
  return (
    <Loaded reading={programs}>
      {({ data: [first, second] }) =>
        first !== undefined && second === undefined ? (
          <Navigate replace to="/p/$programId/$environment" params={{ programId: first.id, environment: 'test' }} />
        ) : (
          <Navigate replace to="/programs" />
        )
      }
    </Loaded>
  );
}
