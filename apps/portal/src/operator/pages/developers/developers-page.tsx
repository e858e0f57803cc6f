import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ListedDeveloper, Program } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { formatCount } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { CreateDeveloper } from './create-developer.tsx';
import { SignInLink } from './sign-in-link.tsx';

const route = getRouteApi('/shell/developers');

const FIELDS = [{ name: 'email', label: 'E-mail', placeholder: 'ana@example.com' }] as const;

const COLUMNS: readonly Column<ListedDeveloper>[] = [
  {
    name: 'Developer',
    grow: 2,
    cell: ({ email }) => (
      <Link to="/developers" search={{ email }}>
        {email}
      </Link>
    ),
  },
  { name: 'Id', grow: 2, cell: ({ id }) => <Id value={id} what="developer" /> },
  { name: 'Programs', align: 'end', cell: ({ programs }) => formatCount(programs) },
  { name: 'Created', cell: (developer) => <Time at={developer.created_at} /> },
  { name: 'Sign-in', align: 'end', cell: (developer) => <SignInLink developer={developer} /> },
];

export function DevelopersPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const developers = useList<ListedDeveloper>('/developers', search);
  const isLookUp = search.email !== undefined;
  return (
    <Page
      title="Developers"
      actions={<CreateDeveloper onCreated={({ email }) => void navigate({ search: { email } })} />}
    >
      <p className="muted">Who signs in to the portal. An e-mail, looked up or followed, also shows its programs.</p>
      <FilterBar fields={FIELDS} value={search} onChange={(next) => void navigate({ search: next })} />
      <Loaded reading={developers}>
        {(list) => (
          <>
            <Table
              caption="Developers"
              columns={COLUMNS}
              rows={list.rows}
              keyOf={({ id }) => id}
              empty={
                isLookUp ? (
                  <Empty title="No developer has this e-mail">
                    <p>It is compared exactly, whatever its case.</p>
                  </Empty>
                ) : (
                  <Empty title="There is no developer yet">
                    <p>“Create a developer” lets a partner in to the portal.</p>
                  </Empty>
                )
              }
            />
            <More list={list} />
            {isLookUp && list.rows[0] !== undefined && <ProgramsSection developer={list.rows[0]} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

const PROGRAM_COLUMNS: readonly Column<Program>[] = [
  {
    name: 'Program',
    grow: 2,
    cell: ({ id, name }) => (
      <Link className="row-link" to="/programs/$programId" params={{ programId: id }}>
        {name}
      </Link>
    ),
  },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Id', grow: 2, cell: ({ id }) => <Id value={id} what="program" /> },
  { name: 'Created', align: 'end', cell: (program) => <Time at={program.created_at} /> },
];

function ProgramsSection({ developer }: { readonly developer: ListedDeveloper }): ReactNode {
  const programs = useList<Program>('/programs', { developer_id: developer.id });
  return (
    <Section title={`Programs of ${developer.email}`}>
      <Loaded reading={programs}>
        {(list) => (
          <>
            <Table
              caption="Programs of the developer"
              columns={PROGRAM_COLUMNS}
              rows={list.rows}
              keyOf={({ id }) => id}
              empty={
                <Empty title="The developer has no program">
                  <p>A program is given to a developer where it is created, by the id above.</p>
                </Empty>
              }
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
