import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorProgram, ProgramKey } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { DeveloperSection } from './developer-section.tsx';
import { InsidersSection } from './insiders-section.tsx';
import { LimitsSection } from './limits-section.tsx';
import { MoneySection } from './money-section.tsx';
import { ProgramActions } from './program-actions.tsx';

const route = getRouteApi('/shell/programs/$programId');

const KEY_COLUMNS: readonly Column<ProgramKey>[] = [
  { name: 'Environment', cell: ({ environment }) => environment },
  { name: 'Key', cell: ({ prefix, last4 }) => <code>{`${prefix}…${last4}`}</code> },
  { name: 'Created', cell: (key) => <Time at={key.created_at} /> },
  { name: 'Last used', cell: (key) => <Time at={key.last_used_at} /> },
];

export function ProgramPage(): ReactNode {
  const { programId } = route.useParams();
  const reading = useRead<OperatorProgram>(`/programs/${programId}`);
  const above = <Link to="/programs">Programs</Link>;
  if (reading.state !== 'loaded') {
    return (
      <Page title="Program" above={above}>
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  const program = reading.data;
  return (
    <Page
      title={program.name}
      above={above}
      beside={<Status value={program.status} />}
      actions={<ProgramActions program={program} />}
    >
      <Facts
        items={[
          { label: 'Id', value: <Id value={program.id} what="program" /> },
          { label: 'Created', value: <Time at={program.created_at} /> },
          { label: 'Deletion', value: program.deletion_scheduled ? <Status value="scheduled" tone="bad" /> : 'no' },
          {
            label: 'Payouts',
            value: (
              <Link to="/payouts" search={{ program_id: program.id }}>
                Its payouts
              </Link>
            ),
          },
          {
            label: 'History',
            value: (
              <Link to="/actions" search={{ subject: `program:${program.id}` }}>
                What operators did
              </Link>
            ),
          },
        ]}
      />
      <Section title="Keys">
        <Table
          caption="Keys"
          columns={KEY_COLUMNS}
          rows={program.keys}
          keyOf={({ prefix, last4 }) => prefix + last4}
          empty={<Empty title="The program has no key" />}
        />
      </Section>
      <DeveloperSection program={program} />
      <LimitsSection programId={program.id} />
      <InsidersSection programId={program.id} />
      <MoneySection programId={program.id} />
    </Page>
  );
}
