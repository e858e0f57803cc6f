import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WebhookDeliveryDetail } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { prettyJson } from '../../kit/pretty-json.ts';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { type CurrentProgram, useProgram } from '../../layout/program.tsx';
import { handOver } from '../signatures/handover.ts';
import { DeliveryActions } from './delivery-actions.tsx';
import { Sends } from './sends.tsx';

const route = getRouteApi('/p/$programId/$environment/deliveries/$deliveryId');
const REFRESH_MS = 2_000;

export function DeliveryPage(): ReactNode {
  const { programId, environment } = useProgram();
  const { deliveryId } = route.useParams();
  const reading = useDelivery(deliveryId);
  const delivery = reading.state === 'loaded' ? reading.data : undefined;
  return (
    <Page
      title="Delivery"
      above={
        delivery && (
          <Link
            to="/p/$programId/$environment/webhooks/$endpointId"
            params={{ programId, environment, endpointId: delivery.endpoint_id }}
          >
            Endpoint
          </Link>
        )
      }
      beside={delivery && <Status value={delivery.status} />}
      actions={delivery && <DeliveryActions key={delivery.id} delivery={delivery} />}
    >
      <Loaded reading={reading}>
        {(found) => (
          <>
            <Facts items={factsOf(found, { programId, environment })} />
            <Section title="Sends">
              <Sends delivery={found} />
            </Section>
            <Section title="Body" actions={<VerifySignature delivery={found} />}>
              <p className="muted">
                It was fixed when the delivery was created. Each send signs exactly its raw bytes.
              </p>
              <CodeSample
                title={found.event}
                samples={[
                  { name: 'Pretty', text: prettyJson(found.body) },
                  { name: 'Raw', text: found.body },
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Reads the delivery again and again while a send is still to come. */
function useDelivery(deliveryId: string) {
  const path = `/deliveries/${deliveryId}`;
  const first = useRead<WebhookDeliveryDetail>(path);
  const isPending = first.state === 'loaded' && first.data.status === 'pending';
  return useRead<WebhookDeliveryDetail>(path, {}, isPending ? { refreshMs: REFRESH_MS } : {});
}

function VerifySignature({ delivery }: { readonly delivery: WebhookDeliveryDetail }): ReactNode {
  const { programId, environment } = useProgram();
  const navigate = useNavigate();
  const open = () => {
    handOver({ deliveryId: delivery.id, endpointId: delivery.endpoint_id, body: delivery.body });
    void navigate({ to: '/p/$programId/$environment/signatures', params: { programId, environment } });
  };
  return <Button onClick={open}>Verify its signature</Button>;
}

function factsOf(delivery: WebhookDeliveryDetail, place: Pick<CurrentProgram, 'programId' | 'environment'>) {
  const { id, event, event_id: eventId, program_id: program, environment, resend_of: resendOf } = delivery;
  const { created_at: createdAt, next_attempt_at: nextAt } = delivery;
  const facts = [
    { label: 'Event', value: <EventLink event={event} {...place} /> },
    { label: 'Created', value: <Time at={createdAt} /> },
    { label: 'Delivery', value: <Id value={id} what="delivery" /> },
    { label: 'Event id', value: <Id value={eventId} what="event" /> },
  ];
  if (nextAt !== null) facts.splice(2, 0, { label: 'Next try', value: <Time at={nextAt} /> });
  if (environment !== null) facts.push({ label: 'Environment', value: <>{environment}</> });
  if (program !== null && program !== place.programId)
    facts.push({ label: 'Program', value: <Id value={program} what="program" /> });
  if (resendOf !== null)
    facts.push({ label: 'Sent again from', value: <DeliveryLink deliveryId={resendOf} {...place} /> });
  return facts;
}

type Place = Pick<CurrentProgram, 'programId' | 'environment'>;

function EventLink({ event, ...params }: Place & Pick<WebhookDeliveryDetail, 'event'>): ReactNode {
  return (
    <Link to="/p/$programId/$environment/events" params={params} search={{ event }}>
      {event}
    </Link>
  );
}

function DeliveryLink({ deliveryId, ...place }: Place & { readonly deliveryId: string }): ReactNode {
  return (
    <Id value={deliveryId} what="delivery">
      <Link to="/p/$programId/$environment/deliveries/$deliveryId" params={{ ...place, deliveryId }}>
        {deliveryId}
      </Link>
    </Id>
  );
}
