import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Account } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { emailField, idField } from '../../../kit/filters.ts';
import { Id } from '../../../kit/id.tsx';
import { ListTable } from '../../../kit/list-table.tsx';
import { Page } from '../../../kit/page.tsx';
import type { Column } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { AccountKind } from './account-kind.tsx';
import { AccountFlags } from './concerns-view.tsx';
import { CreateAccount } from './create-account.tsx';
import { type AccountSearch, ENVIRONMENTS, FLAGS, missingPlayerFields } from './search.ts';

const route = getRouteApi('/shell/accounts');

const FIELDS = [
  { name: 'email', label: 'E-mail', ...emailField },
  { name: 'flag', label: 'Flag', options: FLAGS },
  { name: 'sandbox_of', label: 'Sandbox of program', ...idField },
  { name: 'player_ref', label: 'Player', placeholder: 'player_ref' },
  { name: 'program_id', label: 'Program of the player', ...idField },
  { name: 'environment', label: 'Environment of the player', options: ENVIRONMENTS },
] as const;

const COLUMNS: readonly Column<Account>[] = [
  {
    name: 'Account',
    grow: 2,
    cell: ({ id, email }) => (
      <Link className="row-link" to="/accounts/$accountId" params={{ accountId: id }}>
        {email}
      </Link>
    ),
  },
  { name: 'Money', cell: (account) => <AccountKind account={account} /> },
  { name: 'What is known of it', cell: (account) => <AccountFlags account={account} /> },
  { name: 'Jurisdiction', cell: ({ jurisdiction }) => jurisdiction },
  { name: 'Id', grow: 2, cell: ({ id }) => <Id value={id} what="account" /> },
  { name: 'Created', align: 'end', cell: (account) => <Time at={account.created_at} /> },
];

export function AccountsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const missing = missingPlayerFields(search);
  return (
    <Page title="Accounts" actions={<CreateAccount />}>
      <p className="muted">
        People, who have real money only, and sandbox accounts of programs, which have play money.
      </p>
      <FilterBar fields={FIELDS} value={search} onChange={(next) => void navigate({ search: next })} />
      {missing.length === 0 ? (
        <Accounts search={search} />
      ) : (
        <Empty title="A player is looked up by ref, program and environment together">
          <p>Missing: {missing.join(', ')}.</p>
        </Empty>
      )}
    </Page>
  );
}

function Accounts({ search }: { readonly search: AccountSearch }): ReactNode {
  const accounts = useList<Account>('/accounts', search);
  const isFiltered = Object.keys(search).length > 0;
  return (
    <ListTable
      reading={accounts}
      caption="Accounts"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={
        isFiltered ? (
          <Empty title="No account matches these filters">
            <p>An e-mail and a player are compared exactly.</p>
          </Empty>
        ) : (
          <Empty title="There is no account yet">
            <p>“Create an account” opens one for a person, or for the sandbox of a program.</p>
          </Empty>
        )
      }
    />
  );
}
