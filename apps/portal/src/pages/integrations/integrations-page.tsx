import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Environment, Integration, IntegrationList, Transport } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { SelectField } from '../../kit/field.tsx';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { callSamples, post } from '../../kit/samples.ts';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { CreateIntegration } from './create-integration.tsx';
import { DescriptorField } from './descriptor-field.tsx';
import { DryRun } from './dry-run.tsx';
import './integrations.css';
import { firstDescriptor, shortLabelOf, TRANSPORTS } from './transports.ts';

/** Polls may fail or succeed while the page is open, so it is read again after this time. */
const REFRESH_MS = 10_000;

export function IntegrationsPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const integrations = useRead<IntegrationList>(pathOf('/integrations'), { environment }, { refreshMs: REFRESH_MS });
  return (
    <Page title="Integrations" actions={<CreateIntegration />}>
      <p>
        An integration brings outcomes to Laurel without <code>/v1</code>: your server pushes them, or Laurel polls
        them. Its descriptor says how your bodies are read.
      </p>
      <Loaded reading={integrations}>
        {({ data }) => (
          <Table
            caption={`Integrations of the ${environment} environment`}
            columns={COLUMNS}
            rows={data}
            keyOf={({ id }) => id}
            empty={
              <Empty title={`No ${environment} integration`}>
                <p>Create one here, or by a server with the {environment} key:</p>
                <CodeSample title="Create an integration" samples={samplesFor(environment)} />
              </Empty>
            }
          />
        )}
      </Loaded>
      <Section title="Try a descriptor">
        <Trial />
      </Section>
    </Page>
  );
}

const COLUMNS: readonly Column<Integration>[] = [
  { name: 'Integration', grow: 2, cell: (integration) => <IntegrationLink integration={integration} /> },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Last poll', cell: (integration) => <LastPoll integration={integration} /> },
  { name: 'Id', grow: 2, cell: ({ id }) => <Id value={id} what="integration" /> },
  { name: 'Created', cell: (integration) => <Time at={integration.created_at} /> },
];

function IntegrationLink({ integration: { id, transport } }: { readonly integration: Integration }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Link
      className="row-link"
      to="/p/$programId/$environment/integrations/$integrationId"
      params={{ programId, environment, integrationId: id }}
    >
      {shortLabelOf(transport)}
    </Link>
  );
}

function LastPoll({ integration }: { readonly integration: Integration }): ReactNode {
  const { transport, last_polled_at: polledAt, last_poll_error: error } = integration;
  if (transport !== 'pull_poll') return <span className="muted">–</span>;
  return (
    <>
      <Time at={polledAt} /> {error !== null && <Status value={error} tone="bad" />}
    </>
  );
}

/** Tries a descriptor that belongs to no integration yet. */
function Trial(): ReactNode {
  const [transport, setTransport] = useState<Transport>('push_webhook');
  const [descriptor, setDescriptor] = useState(() => firstDescriptor('push_webhook'));
  const choose = (next: Transport) => {
    if (descriptor === firstDescriptor(transport)) setDescriptor(firstDescriptor(next));
    setTransport(next);
  };
  return (
    <div className="columns descriptor-columns">
      <div className="form">
        <SelectField
          label="Transport"
          options={TRANSPORTS.filter(({ value }) => value !== 'sdk_direct')}
          value={transport}
          onChange={(event) => choose(event.target.value as Transport)}
        />
        <DescriptorField value={descriptor} onChange={setDescriptor} />
      </div>
      <DryRun key={transport} transport={transport} descriptor={descriptor} />
    </div>
  );
}

function samplesFor(environment: Environment) {
  return callSamples(environment, {
    calls: [post('/v1/integrations', { transport: 'push_webhook' })],
    sdk: "const integration = await laurel.integrations.create({ transport: 'push_webhook' });",
  });
}
