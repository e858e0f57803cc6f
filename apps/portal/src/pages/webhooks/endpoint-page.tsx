import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WebhookEndpoint } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page } from '../../kit/page.tsx';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { eventsOf, scopeOf } from './endpoints.ts';
import { SendTest } from './send-test.tsx';
import './webhooks.css';

const route = getRouteApi('/p/$programId/$environment/webhooks/$endpointId');

export function EndpointPage(): ReactNode {
  const { programId, environment } = useProgram();
  const { endpointId } = route.useParams();
  const reading = useRead<WebhookEndpoint>(`/webhook-endpoints/${endpointId}`);
  const endpoint = reading.state === 'loaded' ? reading.data : undefined;
  return (
    <Page
      title="Endpoint"
      above={
        <Link to="/p/$programId/$environment/webhooks" params={{ programId, environment }}>
          Webhooks
        </Link>
      }
      beside={endpoint && <Status value={endpoint.active ? 'on' : 'off'} tone={endpoint.active ? 'good' : 'neutral'} />}
      actions={endpoint && <EndpointActions endpoint={endpoint} />}
    >
      <Loaded reading={reading}>
        {(found) => (
          <>
            <p className="endpoint-url">
              <code>{found.url}</code>
              <CopyButton text={found.url} label="Copy the URL" />
            </p>
            <Facts items={factsOf(found)} />
            <SendTest endpoint={found} />
            <EndpointHealth endpoint={found} />
            <DeliveryLog endpointId={found.id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function factsOf(endpoint: WebhookEndpoint) {
  const { id, description, created_at: createdAt } = endpoint;
  return [
    { label: 'Id', value: <Id value={id} what="endpoint" /> },
    { label: 'Events', value: eventsOf(endpoint) },
    { label: 'Scope', value: scopeOf(endpoint) },
    { label: 'Description', value: description === '' ? <span className="muted">none</span> : description },
    { label: 'Created', value: <Time at={createdAt} /> },
  ];
}
