/** `<DeliveryLog endpointId={id} />`: the deliveries of an endpoint, as they are created. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WebhookDelivery } from '../../api/api-types.ts';
import { type RowChanges, useLiveTail } from '../../api/use-live-tail.ts';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { formatDuration, words } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { LiveTable } from '../../kit/live-table.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Section } from '../../kit/page.tsx';
import { HttpStatus, Status } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { EVENT_TYPES } from '../events/search.ts';

const route = getRouteApi('/p/$programId/$environment/webhooks/$endpointId');

const FIELDS = [
  { name: 'status', label: 'Status', options: ['pending', 'delivered', 'failed'] },
  { name: 'event', label: 'Event', options: EVENT_TYPES },
] as const;

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { name: 'Event', grow: 2, cell: (delivery) => <DeliveryLink delivery={delivery} /> },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Last answer', grow: 1.4, cell: (delivery) => <LastAnswer delivery={delivery} /> },
  { name: 'Sends', align: 'end', cell: ({ attempts }) => attempts.length },
  { name: 'Created', cell: (delivery) => <Time at={delivery.created_at} /> },
  { name: 'Delivery', grow: 3, cell: ({ id }) => <Id value={id} what="delivery" /> },
];

const keyOf = ({ id }: WebhookDelivery) => id;
const CHANGES: RowChanges<WebhookDelivery> = {
  isFinal: ({ status }) => status !== 'pending',
  pathOf: ({ id }) => `/deliveries/${id}`,
};

export function DeliveryLog({ endpointId }: { readonly endpointId: string }): ReactNode {
  const { hours, ...query } = route.useSearch();
  const navigate = useNavigate({ from: route.id });
  const path = `/webhook-endpoints/${endpointId}/deliveries`;
  const reading = useLiveTail<WebhookDelivery>({ path, query, keyOf, changes: CHANGES });
  return (
    <Section title="Deliveries">
      <FilterBar
        fields={FIELDS}
        value={query}
        onChange={(next) => void navigate({ search: { ...next, hours }, replace: true, resetScroll: false })}
      />
      <Loaded reading={reading}>
        {(tail) => (
          <LiveTable
            tail={tail}
            caption="Deliveries"
            columns={COLUMNS}
            keyOf={keyOf}
            empty={<NoDelivery isFiltered={isSet(query)} />}
          />
        )}
      </Loaded>
    </Section>
  );
}

function DeliveryLink({ delivery: { id, event } }: { readonly delivery: WebhookDelivery }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Link
      className="row-link"
      to="/p/$programId/$environment/deliveries/$deliveryId"
      params={{ programId, environment, deliveryId: id }}
    >
      {event}
    </Link>
  );
}

function LastAnswer({ delivery: { attempts } }: { readonly delivery: WebhookDelivery }): ReactNode {
  const last = attempts.at(-1);
  if (last === undefined) return <span className="muted">not sent yet</span>;
  if (last.duration_ms === null) return <span className="muted">under way</span>;
  const duration = formatDuration(last.duration_ms);
  if (last.http_status === null) return `${words(last.error_kind ?? 'no answer')}, ${duration}`;
  return (
    <span>
      <HttpStatus value={last.http_status} /> {duration}
    </span>
  );
}

function NoDelivery({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="No delivery fits these filters" />;
  return (
    <Empty title="No delivery yet">
      <p>Send a test event above, or report the outcome of an attempt. The log is kept for 30 days.</p>
    </Empty>
  );
}

function isSet(query: Readonly<Record<string, string | undefined>>): boolean {
  return Object.values(query).some((value) => value !== undefined);
}
