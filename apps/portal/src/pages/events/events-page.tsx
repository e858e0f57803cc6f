import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WebhookEventCatalogue, WebhookEventDescription } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { useProgram } from '../../layout/program.tsx';
import './events.css';
import { sampleOfDelivery, VERIFY_SAMPLES } from './samples.ts';

const route = getRouteApi('/p/$programId/$environment/events');

export function EventsPage(): ReactNode {
  const reading = useRead<WebhookEventCatalogue>('/webhook-events');
  return (
    <Page title="Events">
      <p>
        What Laurel sends to your <ProgramLink to="webhooks">endpoints</ProgramLink>. In the test environment{' '}
        <code>data</code> also has <code>"test": true</code>.
      </p>
      <Loaded reading={reading}>{({ data }) => <Catalogue events={data} />}</Loaded>
      <Section title="Verify a webhook">
        <p>
          Verify the raw bytes before anything parses them, and skip what you have had: <code>dedupeKey</code> of the
          SDK, or <code>X-Webhook-Delivery-Id</code>. If a signature is refused, the{' '}
          <ProgramLink to="signatures">checker</ProgramLink> names the reason.
        </p>
        <CodeSample title="Verify" samples={VERIFY_SAMPLES} />
      </Section>
    </Page>
  );
}

function Catalogue({ events }: { readonly events: readonly WebhookEventDescription[] }): ReactNode {
  const { programId, environment } = useProgram();
  const { event = events[0]?.event } = route.useSearch();
  const shown = events.find((one) => one.event === event);
  return (
    <div className="catalogue">
      <nav aria-label="Events">
        <ul>
          {events.map((one) => (
            <li key={one.event}>
              <Link
                to="/p/$programId/$environment/events"
                params={{ programId, environment }}
                search={{ event: one.event }}
                aria-current={one.event === event ? 'true' : undefined}
                resetScroll={false}
              >
                <code>{one.event}</code>
                <span>{one.summary}</span>
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {shown !== undefined && (
        <Section title={shown.event}>
          <p>{shown.summary}</p>
          <CodeSample
            key={shown.event}
            title="A delivery"
            samples={[
              { name: 'Body', text: JSON.stringify(shown.sample, null, 2) },
              { name: 'Request', text: sampleOfDelivery(shown) },
            ]}
          />
        </Section>
      )}
    </div>
  );
}

function ProgramLink({
  to,
  children,
}: {
  readonly to: 'webhooks' | 'signatures';
  readonly children: string;
}): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Link to={`/p/$programId/$environment/${to}`} params={{ programId, environment }}>
      {children}
    </Link>
  );
}
