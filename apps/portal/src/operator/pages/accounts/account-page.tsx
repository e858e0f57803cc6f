import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AccountWithCharges, ProgramCharges } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { ProgramId } from '../../layout/item-ids.tsx';
import { AccountKind } from './account-kind.tsx';
import { AccountFlags } from './concerns-view.tsx';
import { environmentOf } from './environment.ts';
import { FactsSection } from './facts-section.tsx';
import { ActionsSection, AttemptsSection, PayoutsSection } from './history-sections.tsx';
import { LinksSection } from './links-section.tsx';
import { StatementSection } from './statement-section.tsx';

const route = getRouteApi('/shell/accounts/$accountId');

const CHARGE_COLUMNS: readonly Column<ProgramCharges>[] = [
  { name: 'Program', cell: (charges) => <ProgramId value={charges.program_id} isShort /> },
  { name: 'Environment', cell: ({ environment }) => <EnvironmentBadge value={environment} /> },
  { name: 'Fees, without refunded ones', align: 'end', cell: ({ amount }) => <Money amount={amount} /> },
];

export function AccountPage(): ReactNode {
  const { accountId } = route.useParams();
  const reading = useRead<AccountWithCharges>(`/accounts/${accountId}`);
  const above = <Link to="/accounts">Accounts</Link>;
  if (reading.state !== 'loaded') {
    return (
      <Page title="Account" above={above}>
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  return <ShownAccount key={accountId} account={reading.data} above={above} />;
}

interface ShownAccountProps {
  readonly account: AccountWithCharges;
  readonly above: ReactNode;
}

function ShownAccount({ account, above }: ShownAccountProps): ReactNode {
  const { environment = environmentOf(account) } = route.useSearch();
  return (
    <Page
      title={account.email}
      above={above}
      beside={
        <>
          <AccountKind account={account} /> <AccountFlags account={account} />
        </>
      }
    >
      <Identity account={account} />
      <FactsSection account={account} />
      <LinksSection account={account} />
      <StatementSection account={account} environment={environment} />
      <Section title="Charged in 24 hours">
        <Table
          caption="Charged in 24 hours"
          columns={CHARGE_COLUMNS}
          rows={account.charges}
          keyOf={({ program_id, environment: chargedIn }) => `${program_id} ${chargedIn}`}
          empty={<Empty title="No program has charged the account in the last 24 hours" />}
        />
      </Section>
      <AttemptsSection accountId={account.id} />
      <PayoutsSection accountId={account.id} />
      <ActionsSection accountId={account.id} />
    </Page>
  );
}

function Identity({ account }: { readonly account: AccountWithCharges }): ReactNode {
  return (
    <Facts
      items={[
        { label: 'Id', value: <Id value={account.id} what="account" /> },
        { label: 'Date of birth', value: account.date_of_birth },
        { label: 'Created', value: <Time at={account.created_at} /> },
        ...(account.program_id === null
          ? []
          : [{ label: 'Sandbox of program', value: <ProgramId value={account.program_id} /> }]),
      ]}
    />
  );
}
