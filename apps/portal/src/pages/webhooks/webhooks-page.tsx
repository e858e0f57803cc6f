import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WebhookEndpoint, WebhookEndpointList, WebhookEndpointStats } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page } from '../../kit/page.tsx';
import { Status } from '../../kit/status.tsx';
import { Table } from '../../kit/table.tsx';
import { useProgram } from '../../layout/program.tsx';
import { CreateEndpoint } from './create-endpoint.tsx';
import { coversProgram, eventsOf, healthOf, scopeOf } from './endpoints.ts';
import './webhooks.css';

const REFRESH_MS = 30_000;

const COLUMNS = [
  { name: 'Endpoint', cell: (endpoint: WebhookEndpoint) => <EndpointLink endpoint={endpoint} />, grow: 3 as const },
  { name: 'Gets', cell: (endpoint: WebhookEndpoint) => <Gets endpoint={endpoint} /> },
  { name: 'Delivered, 24 h', cell: ({ id }: WebhookEndpoint) => <Health endpointId={id} /> },
  {
    name: 'State',
    cell: ({ active }: WebhookEndpoint) => <Status value={active ? 'on' : 'off'} tone={active ? 'good' : 'neutral'} />,
  },
];

export function WebhooksPage(): ReactNode {
  const { programId, environment } = useProgram();
  const reading = useRead<WebhookEndpointList>('/webhook-endpoints');
  return (
    <Page title="Webhooks" actions={<CreateEndpoint />}>
      <p>
        Laurel sends signed{' '}
        <Link to="/p/$programId/$environment/events" params={{ programId, environment }}>
          events
        </Link>{' '}
        of the {environment} environment to these endpoints: at once, and after a failure again after one and after five
        minutes.
      </p>
      <Loaded reading={reading}>
        {({ data }) => (
          <Table
            caption="Endpoints"
            columns={COLUMNS}
            rows={data.filter((endpoint) => coversProgram(endpoint, programId, environment))}
            keyOf={({ id }) => id}
            empty={<NoEndpoint />}
          />
        )}
      </Loaded>
    </Page>
  );
}

function EndpointLink({ endpoint: { id, url, description } }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <div>
      <Link
        className="row-link"
        to="/p/$programId/$environment/webhooks/$endpointId"
        params={{ programId, environment, endpointId: id }}
      >
        {url}
      </Link>
      {description !== '' && <span className="muted below">{description}</span>}
    </div>
  );
}

function Gets({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  return (
    <div>
      {eventsOf(endpoint)}
      <span className="muted below">{scopeOf(endpoint)}</span>
    </div>
  );
}

function Health({ endpointId }: { readonly endpointId: string }): ReactNode {
  const path = `/webhook-endpoints/${endpointId}/stats`;
  const reading = useRead<WebhookEndpointStats>(path, { hours: 24 }, { refreshMs: REFRESH_MS });
  if (reading.state !== 'loaded') return <span className="muted">{reading.state === 'failed' ? 'unknown' : '…'}</span>;
  const { tone, text } = healthOf(reading.data);
  return <Status value={text} tone={tone} />;
}

/**
 * Says that a developer's machine without a public address gets the sandbox's events by the SDK.
 */
function NoEndpoint(): ReactNode {
  const { environment } = useProgram();
  return (
    <Empty title={`No endpoint gets events of the ${environment} environment`}>
      <p>Add the public https address of your server.</p>
      {environment === 'test' && (
        <>
          <p>Your server has none yet? The SDK brings the events of the sandbox to your machine, signed:</p>
          <CodeSample title="Listen" samples={[{ name: 'Shell', text: listenSample() }]} />
        </>
      )}
    </Empty>
  );
}

function listenSample(): string {
  return [
    `export LAUREL_BASE_URL=${window.location.origin} LAUREL_API_KEY=$LAUREL_TEST_KEY LAUREL_WEBHOOK_SECRET=whsec_of_my_own`,
    'npx --package=@laurel/sdk laurel listen --forward-to http://127.0.0.1:3000/webhooks',
  ].join('\n');
}
